# SPDX-License-Identifier: MIT
"""One running QEMU: process, monitor, console and the socket of its debug stub."""

from harness.machine.attached import AttachedMachine, NoConsole
from harness.machine.command import ReplayLog, ReplayMode
from harness.machine.console import Console, ConsoleState
from harness.machine.machine import Machine

__all__ = [
    "AttachedMachine",
    "Console",
    "ConsoleState",
    "Machine",
    "NoConsole",
    "ReplayLog",
    "ReplayMode",
]
