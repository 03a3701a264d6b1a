# SPDX-License-Identifier: MIT
"""Events apart from those of interrupt handlers, for tests that know what a workload calls.

With ticks (``--tick HZ``) handlers come anywhere.  What they do shows in the trace: the flag for a
hard interrupt stands in each of their events, but for those of the function that raises it first
and takes it away last.
"""

HARDIRQ = 8
"""TRACE_FLAG_HARDIRQ: ``h`` in the latency column."""

AROUND = {"handle_irq"}
"""The functions of guests/kernel/irq.c in which the flag is raised and taken away."""


def outside(events):
    """The events that no interrupt handler made."""
    return [event for event in events if not event.flags & HARDIRQ and event.function not in AROUND]
