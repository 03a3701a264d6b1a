# SPDX-License-Identifier: MIT
"""Snapshots of a guest: the machine's state, and the harness's state of tracing and modules."""

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError
from harness.guest.control import RunControl
from harness.guest.modules import Module, Modules
from harness.guest.tracing import Tracing, TracingState
from harness.isa import Isa
from harness.machine import AttachedMachine, Machine


class GuestSnapshots:
    """The snapshots of one guest by name.  The guest must be stopped."""

    def __init__(
        self,
        config: MachineConfig | None,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        isa: Isa,
        control: RunControl,
        tracing: Tracing,
        modules: Modules,
    ) -> None:
        self._config = config
        self._machine = machine
        self._debugger = debugger
        self._isa = isa
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

    def _restart_timer(self) -> None:
        machine = self._isa.machine
        if machine.unsaved_timer:
            name, stop = machine.unsaved_timer_stop
            value = self._debugger.read_register(name)
            self._debugger.write_register(name, value ^ stop)
            self._debugger.write_register(name, value)
