# SPDX-License-Identifier: MIT
"""Snapshots of a guest: the machine's state, and with it what the harness knows of the guest."""

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError
from harness.guest.modules import Module, Modules
from harness.guest.tracing import Tracing, TracingState
from harness.machine import AttachedMachine, Machine


class GuestSnapshots:
    """The snapshots of one guest, by name.  The guest is stopped whenever one is used."""

    def __init__(
        self,
        config: MachineConfig | None,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        tracing: Tracing,
        modules: Modules,
    ) -> None:
        self._config = config
        self._machine = machine
        self._debugger = debugger
        self._tracing = tracing
        self._modules = modules
        self._states: dict[str, tuple[TracingState, list[Module]]] = {}
        self._restored_at = -1

    def take(self, name: str) -> None:
        """See `Guest.snapshot`."""
        if self._config is not None and not self._config.qemu.snapshots:
            raise UsageError(
                f"QEMU cannot bring {self._config.name} back to a snapshot: not all of its "
                "devices keep their state",
                "Boot it again where a guest as new will do, or take a config of one CPU.",
            )
        self._machine.snapshots.save(name)
        self._states[name] = self._tracing.state, self._modules.loaded

    def restore(self, name: str) -> None:
        """See `Guest.restore`."""
        debugger = self._debugger
        if self._restored_at == debugger.resumptions:
            # QEMU's flash memory does work of a load when the machine runs next, and QEMU (7.2 to
            # 10.0) dies of a second load before that.  What is executed here is undone at once.
            debugger.step_instruction()
        self._machine.snapshots.load(name)
        self._restored_at = debugger.resumptions
        debugger.moved()
        tracing, modules = self._states[name]
        self._modules.restore(modules)
        self._tracing.restore(tracing)
