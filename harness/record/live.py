# SPDX-License-Identifier: MIT
"""What somebody who watches a recording sees of it, at any rate of events."""

import sys
import time
from collections.abc import Callable

from harness.guest import Guest
from harness.trace import Statistics, TraceEvent, add_events
from harness.trace.events import lost_line

SHOWING = 0.25
"""Seconds that showing events may take of the guest's time, each time that they are read."""


class LiveEvents:
    """The events of a running guest as lines, as they come.

    The guest stands while they are shown.  So what takes too long is left out, and the line that
    stands for it says how many events that were; in the recording they are.
    """

    def __init__(self, guest: Guest, show: Callable[[str], None], limit: int | None = None) -> None:
        """``limit`` is how many events the recording is to have."""
        self._pipe = guest.tracer.pipe()
        self._show = show
        self._left = sys.maxsize if limit is None else limit

    def drained(self) -> None:
        """Show what was drained since the last time."""
        end = time.monotonic() + SHOWING
        for event in self._pipe.events():
            if not self._left:
                return
            if time.monotonic() > end:
                left_out = min(self._pipe.skip(), self._left)
                self._left -= left_out
                self._show(f"[{left_out} EVENTS NOT SHOWN]")
                return
            self._left -= 1
            self._line(event)

    def _line(self, event: TraceEvent) -> None:
        if event.lost:
            self._show(lost_line(event.cpu, event.lost))
        self._show(str(event))


class Rates:
    """How often each function was called since the last look, and what was lost."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._pipe = guest.tracer.pipe()
        self._sums = Statistics()
        self._lost = 0

    def drained(self) -> bool:
        """Count what was drained since the last time; True: the run goes on."""
        add_events(self._sums, self._pipe.events())
        return True

    def take(self) -> tuple[Statistics, int]:
        """The sums since the last time, and the events that were lost in the meantime."""
        sums, self._sums = self._sums, Statistics(tracer=self._guest.tracer.current)
        lost = self._guest.collector.counts.lost
        lost, self._lost = lost - self._lost, lost
        return sums, lost
