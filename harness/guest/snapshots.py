# SPDX-License-Identifier: MIT
"""Snapshots of a guest: the machine's state, and the harness's state of tracing and modules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError
from harness.guest.control import RunControl
from harness.guest.modules import Module, Modules
from harness.guest.tracing import Tracing, TracingState
from harness.image import Image
from harness.machine import AttachedMachine, ConsoleState, Machine

CLOCK_SIZE = 8
"""Bytes of `Cpu.unsaved_clock`."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is not in the machine's own snapshot."""

    tracing: TracingState
    modules: list[Module]
    printed: ConsoleState
    clock: bytes | None
    """The value of `Cpu.unsaved_clock`, empty if there is none; None in front of the first
    instruction."""


class GuestSnapshots:
    """The snapshots of one guest by name.  The guest must be stopped."""

    def __init__(
        self,
        config: MachineConfig | None,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        image: Image,
        control: RunControl,
        tracing: Tracing,
        modules: Modules,
    ) -> None:
        self._config = config
        self._machine = machine
        self._debugger = debugger
        self._image = image
        self._control = control
        self._tracing = tracing
        self._modules = modules
        self._states: dict[str, _State] = {}
        self._restored_at = -1
        self._began_at = 0  # Resumptions of the debugger in front of the first instruction.

    def take(self, name: str) -> None:
        """See `Guest.snapshot`."""
        if self._config is not None and not self._config.qemu.snapshots:
            raise UsageError(
                f"QEMU cannot restore a snapshot of {self._config.name}: not all of its "
                "devices save their state",
                "Boot it again instead, or use a config with one CPU.",
            )
        # In front of the first instruction no clock has been read, and no timer was started.
        begun = self._debugger.resumptions != self._began_at
        clock = self._clock_to_save() if begun else None
        self._machine.snapshots.save(name)
        if clock:
            # As after a load, so that the guest continues in the same way.
            self._restart_clock(clock, timers_ran=False)
        printed = self._machine.console.state
        self._states[name] = _State(self._tracing.state, self._modules.loaded, printed, clock)

    def _clock_to_save(self) -> bytes:
        """The clock of a guest that has begun, which can be saved then; empty if QEMU saves it."""
        self._control.leave_delay_slot()
        cpu = self._image.isa.cpu
        if cpu.unsaved_clock is not None:
            return self._debugger.memory.read_physical(cpu.unsaved_clock, CLOCK_SIZE)
        if cpu.unsaved_timer:
            self._run_due_timers()
        return b""

    def restore(self, name: str) -> None:
        """See `Guest.restore`."""
        debugger = self._debugger
        if self._restored_at == debugger.resumptions:
            # QEMU's flash device finishes a load when the machine runs, and QEMU (7.2 to 10.0)
            # crashes on a second load before that.  The step is undone by the load.
            debugger.step_instruction()
        timers_ran = self._timers_run()
        self._machine.snapshots.load(name)
        self._restored_at = debugger.resumptions
        debugger.moved()
        state = self._states[name]
        if state.clock is None:
            self._began_at = debugger.resumptions
        else:
            self._restart_clock(state.clock, timers_ran=timers_ran)
        self._machine.console.restore(state.printed)
        self._modules.restore(state.modules)
        self._tracing.restore(state.tracing)

    def _run_due_timers(self) -> None:
        """Let a timer that is due raise its interrupt, which is saved.

        When a deterministic guest stops, QEMU's time advances to the next timer, which then waits
        for the machine to run.  A timer that is restarted at its own time is lost in QEMU 10.
        Only one instruction lets it run: a nop, and nothing else changes.
        """
        for cpu in self._processors():
            cpu.execute(self._image.isa.sites.nop, registers={})

    def _timers_run(self) -> bool:
        """Whether a timer that is not in snapshots may have a deadline."""
        cpu = self._image.isa.cpu
        if not cpu.unsaved_timer:
            return False
        running = [cpu.timer_runs(processor) for processor in self._processors()]
        return any(running)

    def _restart_clock(self, count: bytes, *, timers_ran: bool) -> None:
        """Set the clock to its saved value, and start the CPUs' timers by it.

        ``timers_ran``: before a load, whose deadlines QEMU's timers still have.
        """
        debugger, cpu = self._debugger, self._image.isa.cpu
        if cpu.unsaved_clock is not None:
            debugger.write_physical(cpu.unsaved_clock, count)
        if timers_ran or self._timers_run():
            for processor in self._processors():
                cpu.restart_timer(processor, int.from_bytes(count, self._image.byteorder))

    def _processors(self) -> Iterator["_Processor"]:
        """Each CPU while it is the selected one."""
        debugger = self._debugger
        with debugger.preserved_selection():
            for thread in debugger.threads():
                debugger.select_thread(thread.id)
                yield _Processor(debugger, self._image, thread.id)


class _Processor:
    """`harness.isa.Processor`: the selected CPU, through the debug stub."""

    def __init__(self, debugger: Debugger, image: Image, thread: int) -> None:
        self._debugger = debugger
        self._image = image
        self._thread = thread

    def register(self, name: str) -> int:
        return self._debugger.read_register(name)

    def set_register(self, name: str, value: int) -> None:
        self._debugger.write_register(name, value)

    def variable(self, symbol: str, size: int) -> int:
        place = self._image.symbols[symbol] + size * (self._thread - 1)
        return int.from_bytes(self._debugger.read_memory(place, size), self._image.byteorder)

    def execute(self, *instructions: bytes, registers: Mapping[str, int]) -> None:
        """In place of the first ones of the kernel's text."""
        debugger, image = self._debugger, self._image
        changed = {image.isa.abi.pc_register: image.text.start, **registers}
        before = {name: debugger.read_register(name) for name in changed}
        code, stop = b"".join(instructions), debugger.stop
        replaced = debugger.read_memory(image.text.start, len(code))
        debugger.write_memory(image.text.start, code)
        debugger.write_registers(changed)
        for _ in instructions:
            debugger.step_instruction(self._thread)
        debugger.write_memory(image.text.start, replaced)
        debugger.write_registers(before)
        debugger.stop = stop
