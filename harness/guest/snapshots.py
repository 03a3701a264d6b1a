# SPDX-License-Identifier: MIT
"""Snapshots of a guest: the machine's state, and the harness's state of tracing and modules."""

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError
from harness.guest.control import RunControl
from harness.guest.modules import Module, Modules
from harness.guest.tracing import Tracing, TracingState
from harness.image import Image
from harness.machine import AttachedMachine, Machine


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
        self._states: dict[str, tuple[TracingState, list[Module]]] = {}
        self._restored_at = -1

    def take(self, name: str) -> None:
        """See `Guest.snapshot`."""
        if self._config is not None and not self._config.qemu.snapshots:
            raise UsageError(
                f"QEMU cannot restore a snapshot of {self._config.name}: not all of its "
                "devices save their state",
                "Boot it again instead, or use a config with one CPU.",
            )
        self._control.leave_delay_slot()
        if self._image.isa.machine.unsaved_timer:
            self._run_due_timers()
        self._machine.snapshots.save(name)
        self._states[name] = self._tracing.state, self._modules.loaded

    def restore(self, name: str) -> None:
        """See `Guest.restore`."""
        debugger = self._debugger
        if self._restored_at == debugger.resumptions:
            # QEMU's flash device finishes a load when the machine runs, and QEMU (7.2 to 10.0)
            # crashes on a second load before that.  The step is undone by the load.
            debugger.step_instruction()
        self._machine.snapshots.load(name)
        self._restored_at = debugger.resumptions
        debugger.moved()
        self._restart_timer()
        tracing, modules = self._states[name]
        self._modules.restore(modules)
        self._tracing.restore(tracing)

    def _run_due_timers(self) -> None:
        """Let a timer that is due raise its interrupt, which is saved.

        When a deterministic guest stops, QEMU's time goes on to the next timer, which then waits
        for the machine to run.  A timer that is restarted at its own time is lost in QEMU 10.
        Only one instruction lets it run: a nop, and nothing else changes.
        """
        debugger, image = self._debugger, self._image
        pc_register, nop = image.isa.abi.pc_register, image.isa.sites.nop
        place, pc = image.text.start, debugger.read_register(pc_register)
        code = debugger.read_memory(place, len(nop))
        debugger.write_memory(place, nop)
        debugger.write_register(pc_register, place)
        debugger.step_instruction()
        debugger.write_memory(place, code)
        debugger.write_register(pc_register, pc)

    def _restart_timer(self) -> None:
        machine = self._image.isa.machine
        if machine.unsaved_timer:
            name, stop = machine.unsaved_timer_stop
            value = self._debugger.read_register(name)
            self._debugger.write_register(name, value ^ stop)
            self._debugger.write_register(name, value)
