# SPDX-License-Identifier: MIT
"""The difference of two traces as text and as JSON."""

import json
from collections.abc import Iterator, Sequence

from harness.trace.call_profile import MAX_STEPS, CallProfile
from harness.trace.difference import Difference, Divergence, PathChange
from harness.trace.events import TraceEvent, duration_text

THREADS = 4
"""Threads whose divergence is shown in the text; the JSON has all."""


def difference_text(found: Difference, names: tuple[str, str], *, most: int) -> Iterator[str]:
    """Lines without line ends; ``names`` are those of the files, ``most`` limits each list."""
    for mark, name, profile in zip("AB", names, (found.a, found.b), strict=True):
        yield f"{mark}  {name}: {_summary(profile)}"
    yield ""
    if found.same:
        yield f"The calls are the same, in the same order: {found.compared}."
    yield from _functions(found, most)
    yield from _paths(found.paths, most)
    yield from _order(found)


def _summary(profile: CallProfile) -> str:
    sums = profile.statistics
    text = f"tracer {sums.tracer}: {sums.events} events in {sums.span / 1e9:.6f} s"
    if profile.interrupted:
        text += f", {profile.interrupted} calls in interrupts left out of paths and order"
    if profile.lost:
        text += "; events were lost, the order of calls is compared up to there"
    if profile.shortened:
        text += f"; the order of its first {MAX_STEPS} calls is compared"
    return text


def _functions(found: Difference, most: int) -> Iterator[str]:
    if not found.functions:
        return
    if found.same:
        yield ""
    yield "Functions by calls and time:"
    yield (
        f"{'calls A':>10} {'calls B':>10} {'change':>10}"
        + "".join(f" {title:>14}" for title in ("self A", "self B", "change"))
        + "  function"
    )
    for one in found.functions[:most]:
        times = (one.a.own, one.b.own, one.own if one.a.own or one.b.own else None)
        yield (
            f"{one.a.calls:>10} {one.b.calls:>10} {one.calls:>+10}"
            f" {_time(times[0]):>14} {_time(times[1]):>14} {_time(times[2], '+'):>14}  {one.name}"
        )
    yield from _more(len(found.functions) - most, "functions")


def _paths(paths: Sequence[PathChange], most: int) -> Iterator[str]:
    kinds = (
        ("Call paths only in B:", [one for one in paths if not one.a]),
        ("Call paths only in A:", [one for one in paths if not one.b]),
        ("Call paths with other numbers of calls:", [one for one in paths if one.a and one.b]),
    )
    for title, chosen in kinds:
        if not chosen:
            continue
        yield ""
        yield title
        for one in chosen[:most]:
            counts = f"{one.a} -> {one.b}" if one.a and one.b else f"{one.a or one.b}"
            yield f"{counts:>18}  {' > '.join(one.path)}"
        yield from _more(len(chosen) - most, "paths")


def _order(found: Difference) -> Iterator[str]:
    for mark, names in (("A", found.only_a), ("B", found.only_b)):
        if names:
            yield ""
            yield f"Threads only in {mark}: {', '.join(names[: 2 * THREADS])}"
            yield from _more(len(names) - 2 * THREADS, "threads")
    for number, one in enumerate(found.divergences[:THREADS]):
        yield ""
        first = "First divergence: " if number == 0 else ""
        yield f"{first}{one.thread}, after {one.same} calls that are the same"
        yield from _divergence(one)
    yield from _more(len(found.divergences) - THREADS, "threads diverge")


def _divergence(one: Divergence) -> Iterator[str]:
    for event in one.before:
        yield f"    {event}"
    for mark, events in (("A", one.a), ("B", one.b)):
        for event in events:
            yield f"  {mark} {event}"
        if not events:
            yield f"  {mark} calls no more"


def _more(hidden: int, what: str) -> Iterator[str]:
    if hidden > 0:
        yield f"... and {hidden} more {what}"


def _time(nanoseconds: int | None, sign: str = "") -> str:
    if nanoseconds is None:
        return ""
    minus = "-" if nanoseconds < 0 else sign
    return f"{minus}{duration_text(abs(nanoseconds))}"


def difference_json(found: Difference, names: tuple[str, str]) -> str:
    """All of it as one JSON object; times in nanoseconds, null if only entries were traced."""
    return json.dumps(
        {
            "same": found.same,
            "compared": found.compared,
            **{
                mark: {
                    "file": name,
                    "tracer": profile.statistics.tracer,
                    "events": profile.statistics.events,
                    "span": profile.statistics.span,
                    "interrupted": profile.interrupted,
                    "lost": profile.lost,
                    "shortened": profile.shortened,
                }
                for mark, name, profile in zip("ab", names, (found.a, found.b), strict=True)
            },
            "functions": [
                {
                    "function": one.name,
                    "calls": [one.a.calls, one.b.calls],
                    "total": [one.a.total, one.b.total],
                    "self": [one.a.own, one.b.own],
                }
                for one in found.functions
            ],
            "paths": [{"path": one.path, "calls": [one.a, one.b]} for one in found.paths],
            "threads": {"a": found.only_a, "b": found.only_b},
            "divergences": [
                {
                    "thread": one.thread,
                    "same": one.same,
                    "before": _lines(one.before),
                    "a": _lines(one.a),
                    "b": _lines(one.b),
                }
                for one in found.divergences
            ],
        },
        indent=2,
    )


def _lines(events: Sequence[TraceEvent]) -> list[str]:
    return [str(event).lstrip() for event in events]
