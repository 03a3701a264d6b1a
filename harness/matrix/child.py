# SPDX-License-Identifier: MIT
"""A cell's process and its descendants, with limits on time and memory."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HostError
from harness.process import find_program, kill_tree, process_tree, with_pdeathsig
from harness.units import MIB

RESERVED = 4096 * MIB
"""Address space beyond the memory limit, which QEMU maps without using it."""

FILE_LIMIT = 2048 * MIB
"""Maximum size in bytes of a cell's files."""

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
        self.peak = max(self.peak, sum(_resident(pid) for pid in process_tree(self.pid)))
        if self.seconds > self.limits.time:
            return "timeout"
        return "memory" if self.peak > self.limits.memory else ""

    def close(self) -> None:
        """Kill it and its descendants; harmless if it has ended."""
        if self.process_fd < 0:
            return
        if self._popen.poll() is None:
            kill_tree(self.pid)
        with contextlib.suppress(ProcessLookupError):
            # The process group exists as long as one process is in it.
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        os.close(self.process_fd)
        self.process_fd = -1


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Shared memory, such as libraries, would be counted for each process.
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * PAGE
    return 0
