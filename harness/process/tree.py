# SPDX-License-Identifier: MIT
"""Processes of the host with their descendants, from /proc."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 10.0
"""Seconds that killed processes may take to end."""


class ProcessEntry(NamedTuple):
    """A process; ``name`` is its program's, of at most 15 characters."""

    pid: int
    parent: int
    name: str


def processes() -> Iterator[ProcessEntry]:
    """All processes, zombies too."""
    for directory in _directories():
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (directory / "stat").read_text(errors="replace")
            # The name is in parentheses, and may contain some.
            start, _, rest = stat.rpartition(")")
            yield ProcessEntry(int(directory.name), int(rest.split()[1]), start.partition("(")[2])


def processes_with(variable: str) -> list[int]:
    """The processes with ``NAME=value`` in the environment that they were started with."""
    found = []
    for directory in _directories():
        # A zombie has no environment.
        with contextlib.suppress(OSError):
            if variable.encode() in (directory / "environ").read_bytes().split(b"\0"):
                found.append(int(directory.name))
    return found


def process_tree(root: int) -> list[int]:
    """A process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process.pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def kill_tree(root: int) -> None:
    """Kill from the root downwards, so that no parent starts a killed process again.

    Each is first opened as a pidfd and then checked again, as process ids may be reused.
    """
    held: list[int] = []
    try:
        for pid in process_tree(root):
            with contextlib.suppress(OSError):
                held.append(os.pidfd_open(pid))
                if pid not in process_tree(root):
                    os.close(held.pop())
        for descriptor in held:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        end = time.monotonic() + TIMEOUT
        for descriptor in held:
            select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
    finally:
        for descriptor in held:
            os.close(descriptor)


def _directories() -> Iterator[Path]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            yield Path(entry.path)
