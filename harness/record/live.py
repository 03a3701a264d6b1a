# SPDX-License-Identifier: MIT
"""Live output of a recording, at any rate of events."""

import sys
import time
from collections.abc import Callable

from harness.guest import Guest
from harness.trace import Statistics, TraceEvent, add_events
from harness.trace.events import lost_line

SHOWING = 0.25
"""Maximum seconds of output after each drain."""


class LiveEvents:
    """The events of a running guest as lines.

    The guest is stopped during the output.  If that takes too long, events are left out and their
    number is shown; they are in the recording.
    """

    def __init__(self, guest: Guest, show: Callable[[str], None], limit: int | None = None) -> None:
        """``limit`` is the number of events in the recording."""
        self._pipe = guest.tracer.pipe()
        self._show = show
        self._left = sys.maxsize if limit is None else limit

    def drained(self) -> None:
        """Show the events drained since the last call."""
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
    """Calls of each function, and lost events, since the last call."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._pipe = guest.tracer.pipe()
        self._sums = Statistics()
        self._lost = 0

    def drained(self) -> bool:
        """Count the events drained since the last call; True: continue the run."""
        add_events(self._sums, self._pipe.events())
        return True

    def take(self) -> tuple[Statistics, int]:
        """The sums since the last call, and the events lost since then."""
        sums, self._sums = self._sums, Statistics(tracer=self._guest.tracer.current)
        lost = self._guest.collector.counts.lost
        lost, self._lost = lost - self._lost, lost
        return sums, lost
