# SPDX-License-Identifier: MIT
"""A machine that the harness did not start: only its debug stub can be used."""

from pathlib import Path

from harness.errors import HostError
from harness.machine.console import ConsoleState
from harness.machine.snapshots import MachineSnapshots


class NoConsole:
    """Its console, which cannot be read."""

    hung_up = True
    died: str | None = None
    received = 0

    def fileno(self) -> int:
        """No descriptor."""
        return -1

    def drain(self) -> bool:
        """No output will come."""
        return False

    @property
    def state(self) -> ConsoleState:
        """No output was read."""
        return ConsoleState()

    def restore(self, state: ConsoleState) -> None:
        """No output was read."""

    def tail(self, lines: int = 20) -> str:
        """No output was read."""
        return ""


class AttachedMachine:
    """The machine of an attached stub."""

    process_fd = -1
    pid = -1
    alive = True

    def __init__(self, endpoint: str, directory: Path) -> None:
        self.endpoint = endpoint
        self.directory = directory
        self.console = NoConsole()

    def ended(self, timeout: float = 0.0) -> bool:
        """Not known."""
        return False

    def exit_report(self) -> str:
        """Not known."""
        return f"the stub at {self.endpoint} was not started by the harness"

    @property
    def snapshots(self) -> MachineSnapshots:
        """QEMU's, which need the missing monitor."""
        return MachineSnapshots(self, self.directory / "snapshots.qcow2")

    def qmp(self, command: str, /, deadline: float = 10.0, **arguments: object) -> object:
        """There is no monitor: HostError."""
        raise HostError(
            f"QEMU's {command} needs a QEMU that the harness has started",
            "Start the guest with `harness shell -c CONFIG`.",
        )
