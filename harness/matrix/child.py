# SPDX-License-Identifier: MIT
"""A cell's process and its descendants, with limits on time and memory."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HostError
from harness.process import find_program, with_pdeathsig
from harness.units import MIB

RESERVED = 4096 * MIB
"""Address space beyond the memory limit, which QEMU maps without using it."""

FILE_LIMIT = 2048 * MIB
"""Maximum size in bytes of a cell's files."""

TIMEOUT = 10.0
"""Seconds that killed processes may take to end."""

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class CellLimits:
    """The limits of one cell: ``time`` in seconds, ``memory`` in bytes of all its processes."""

    time: float
    memory: int


class CellProcess:
    """One running cell, the leader of its own process group and session.

    The kernel kills it when the thread that created it ends, and its descendants, such as QEMU and
    gdb, in the same way.  ``process_fd`` is readable when it has ended.
    """

    def __init__(self, command: Sequence[str], log: Path, limits: CellLimits) -> None:
        guard = [*with_pdeathsig(), find_program("prlimit", "util-linux")]
        guard += [f"--as={limits.memory + RESERVED}", f"--fsize={FILE_LIMIT}", "--core=0", "--"]
        try:
            with log.open("wb") as output:
                self._popen = subprocess.Popen(
                    [*guard, *command],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise HostError(f"a cell cannot be started: {error}") from error
        self.limits = limits
        self.began = time.monotonic()
        self.peak = 0
        self.pid = self._popen.pid
        self.process_fd = os.pidfd_open(self.pid)

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._popen.poll()

    @property
    def seconds(self) -> float:
        """Its running time."""
        return time.monotonic() - self.began

    def look(self) -> str:
        """The limit that it exceeds: ``timeout``, ``memory``, or none."""
        self.peak = max(self.peak, sum(_resident(pid) for pid in family(self.pid)))
        if self.seconds > self.limits.time:
            return "timeout"
        return "memory" if self.peak > self.limits.memory else ""

    def close(self) -> None:
        """Kill it and its descendants; harmless if it has ended."""
        if self.process_fd < 0:
            return
        if self._popen.poll() is None:
            _kill_family(self.pid)
        with contextlib.suppress(ProcessLookupError):
            # The process group exists as long as one process is in it.
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        os.close(self.process_fd)
        self.process_fd = -1


def family(root: int) -> list[int]:
    """A process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def _processes() -> Iterator[tuple[int, int]]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                # The program's name is in parentheses, and may contain some.
                yield int(entry.name), int(stat.rpartition(")")[2].split()[1])


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Shared memory, such as libraries, would be counted for each process.
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * PAGE
    return 0


def _kill_family(root: int) -> None:
    """Kill from the root downwards, so that no parent starts a killed process again.

    Each is first opened as a pidfd and then checked again, as process ids may be reused.
    """
    held: list[int] = []
    try:
        for pid in family(root):
            with contextlib.suppress(OSError):
                held.append(os.pidfd_open(pid))
                if pid not in family(root):
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
