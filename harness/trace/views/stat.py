# SPDX-License-Identifier: MIT
"""The statistics of a trace as text and as JSON."""

import json
from collections.abc import Iterator

from harness.ring import LOST_UNKNOWN
from harness.trace.events import duration_text
from harness.trace.statistics import CpuTotals, Statistics

HOTTEST = 20
"""Functions in the text; the JSON has all."""


def stat_text(sums: Statistics, *, functions: int = HOTTEST) -> Iterator[str]:
    """Lines without line ends: totals, each CPU, kinds of events, tasks, hottest functions."""
    rate = "" if sums.rate is None else f", {sums.rate:.0f} events/s"
    yield f"tracer {sums.tracer}: {sums.events} events in {sums.span / 1e9:.6f} s{rate}"
    yield ""
    yield f"{'CPU':>5} {'events':>12} {'lost':>12} {'overrun':>12} {'dropped':>12}"
    for number, cpu in sorted(sums.cpus.items()):
        yield f"{number:>5} {cpu.events:>12} {_lost(cpu):>12} {cpu.overrun:>12} {cpu.dropped:>12}"
    disabled = [str(number) for number, cpu in sorted(sums.cpus.items()) if cpu.disabled]
    if disabled:
        yield f"record_disabled was set on CPU {', '.join(disabled)}: nothing was counted then"
    yield ""
    for kind, count in sums.kinds.most_common():
        yield f"{count:>18} {kind}"
    yield ""
    for (pid, comm), count in sums.tasks.most_common(functions):
        yield f"{count:>18} {comm}-{pid}"
    if not sums.functions:
        return
    yield ""
    yield f"{'calls':>12} {'total':>14} {'self':>14}  function"
    for name, totals in sums.hottest(functions):
        yield f"{totals.calls:>12} {_time(totals.total):>14} {_time(totals.own):>14}  {name}"
    hidden = len(sums.functions) - functions
    if hidden > 0:
        yield f"... and {hidden} more functions"


def stat_json(sums: Statistics) -> str:
    """The statistics with every function as one JSON object; times in nanoseconds.

    ``lost`` is null if the number is unknown.
    """
    return json.dumps(
        {
            "tracer": sums.tracer,
            "events": sums.events,
            "first": sums.first,
            "last": sums.last,
            "cpus": [
                {
                    "cpu": number,
                    "events": cpu.events,
                    "lost": None if cpu.lost == LOST_UNKNOWN else cpu.lost,
                    "overrun": cpu.overrun,
                    "dropped": cpu.dropped,
                    "disabled": cpu.disabled,
                }
                for number, cpu in sorted(sums.cpus.items())
            ],
            "kinds": dict(sums.kinds.most_common()),
            "tasks": [
                {"pid": pid, "comm": comm, "events": count}
                for (pid, comm), count in sums.tasks.most_common()
            ],
            "functions": [
                {"function": name, "calls": t.calls, "total": t.total, "self": t.own}
                for name, t in sums.hottest()
            ],
        },
        indent=2,
    )


def _lost(cpu: CpuTotals) -> str:
    return "unknown" if cpu.lost == LOST_UNKNOWN else str(cpu.lost)


def _time(nanoseconds: int | None) -> str:
    return "" if nanoseconds is None else duration_text(nanoseconds)
