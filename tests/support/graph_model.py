# SPDX-License-Identifier: MIT
"""What function_graph has to record, worked out from what the oracle saw.

A list of (kind, site, depth): "entry" or "exit", the call site of the function, and how many
recorded calls it is inside of.  Both sides bring it into this form, so that one comparison holds
the events, their order, their pairing and their nesting.
"""

from dataclasses import dataclass

from harness.oracle import Call

MAX_DEPTH = 50
"""FTRACE_RETFUNC_DEPTH: calls that a thread has room for."""


@dataclass(frozen=True)
class Settings:
    """The controls of the tracer; the sets hold names of functions, None for all of them."""

    filter: frozenset[str] | None = None
    graph: frozenset[str] | None = None
    graph_notrace: frozenset[str] = frozenset()
    max_depth: int = MAX_DEPTH


ALL = Settings()


@dataclass
class _Open:
    site: int
    depth: int
    hijacked: bool
    inside: bool  # of a function of set_graph_function
    silent: bool  # of set_graph_notrace, or called by one


def expected(flow, settings=ALL):
    """The events of one CPU and thread, for the calls and returns that the oracle recorded."""
    events = []
    calls = [_Open(0, -1, False, settings.graph is None, False)]
    for record in flow:
        if isinstance(record, Call):
            call = _enter(record, calls[-1], settings)
            calls.append(call)
            kind = "entry"
        else:
            call = calls.pop()
            assert call.site == record.site, "the oracle pairs its own records"
            kind = "exit"
        late = kind == "exit" and record.late
        if call.hijacked and not call.silent and not late:
            events.append((kind, call.site, call.depth))
    return events


def _enter(record, parent, settings):
    depth = parent.depth + 1
    named = settings.filter is None or record.function in settings.filter
    inside = parent.inside or (named and record.function in settings.graph)
    silent = parent.silent or (named and record.function in settings.graph_notrace)
    # A function of set_graph_notrace is hijacked, to be silent itself; what it calls is not.
    hijacked = (
        named
        and depth < MAX_DEPTH
        and not parent.silent
        and (silent or (inside and depth < settings.max_depth))
    )
    # What is not hijacked takes no place: whatever it calls is as deep as itself.
    return _Open(record.site, depth if hijacked else parent.depth, hijacked, inside, silent)


def recorded(events):
    """The events of a trace in the same form."""
    kinds = {"funcgraph_entry": "entry", "funcgraph_exit": "exit"}
    return [(kinds[event.name], event.func, event.depth) for event in events]
