# SPDX-License-Identifier: MIT
"""A machine that somebody else started, of which only the debug stub can be reached."""

from pathlib import Path

from harness.errors import HostError
from harness.machine.snapshots import MachineSnapshots


class NoConsole:
    """The console of such a guest: it is not ours to read."""

    hung_up = True
    died: str | None = None
    received = 0

    def fileno(self) -> int:
        """No descriptor."""
        return -1

    def drain(self) -> bool:
        """Nothing will ever come."""
        return False

    def tail(self, lines: int = 20) -> str:
        """Nothing was read."""
        return ""


class AttachedMachine:
    """What is known of a machine of which only the debug stub is reachable."""

    process_fd = -1
    pid = -1
    alive = True

    def __init__(self, endpoint: str, directory: Path) -> None:
        self.endpoint = endpoint
        self.directory = directory
        self.console = NoConsole()

    def ended(self, patience: float = 0.0) -> bool:
        """Nobody tells."""
        return False

    def exit_report(self) -> str:
        """Nobody tells."""
        return f"the stub at {self.endpoint} was started by somebody else"

    @property
    def snapshots(self) -> MachineSnapshots:
        """QEMU's, through the monitor that is not there."""
        return MachineSnapshots(self, self.directory / "snapshots.qcow2")

    def qmp(self, command: str, /, deadline: float = 10.0, **arguments: object) -> object:
        """There is no monitor: HostError."""
        raise HostError(
            f"QEMU's {command} cannot be used on a stub that somebody else started",
            "Start the guest with `harness shell -c CONFIG`.",
        )
