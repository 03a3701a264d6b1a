# SPDX-License-Identifier: MIT
"""How a guest under test ends that does not do what it must, and how long it is waited for.

That goes by what QEMU does, which the host's other work cannot take.
"""

import time
from collections.abc import Callable
from pathlib import Path

from harness.errors import GuestDied, GuestError

RUNNING = 0.5
"""Seconds that QEMU may run: 25 times what the longest run of a check needs."""

SLEEPING = 4.0
"""Seconds in a row that QEMU may neither run nor be about to.  Guests under test sleep for less."""

CLOCK = 20.0
"""Seconds that it may take at all, whatever QEMU does, and where the host does not say what."""

_AWAKE = 0.1
"""The part of its time from which on QEMU does something; to stop it and let it go on is less."""


class Hang(GuestDied):
    """The guest went on without getting to where it should."""


class NeverBoots(GuestDied):
    """The guest did not come to its workload, with no tracer on."""


class PortRefused(GuestError):
    """A patching function of the port returned an error for what it has to do."""


class HangDetector:
    """Tells a guest that hangs from one that the host gives little time, from now on."""

    def __init__(self, pid: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._pid = pid
        self._clock = clock
        self._start = self._looked = self._awake = clock()
        self._first = self._last = scheduled(pid)

    @property
    def hangs(self) -> bool:
        """Whether the guest hangs.  To be asked some times a second."""
        now, (ran, waited) = self._clock(), scheduled(self._pid)
        busy = ran - self._last[0] + waited - self._last[1]
        if busy > _AWAKE * (now - self._looked):
            self._awake = now
        self._looked, self._last = now, (ran, waited)
        stuck = ran - self._first[0] > RUNNING or now - self._awake > SLEEPING
        return now - self._start > CLOCK or (stuck and ran > 0)


def scheduled(pid: int) -> tuple[float, float]:
    """Seconds that the threads of a process have run, and that they have waited for a CPU.

    From ``/proc/PID/task/*/schedstat`` (Documentation/scheduler/sched-stats.rst of Linux:
    nanoseconds).  0 for a process that is gone, and on hosts that do not count.
    """
    ran = waited = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            on_cpu, in_queue, _ = file.read_text().split()
        except (OSError, ValueError):  # the thread ends
            continue
        ran, waited = ran + int(on_cpu), waited + int(in_queue)
    return ran / 1e9, waited / 1e9
