# SPDX-License-Identifier: MIT
"""What function_graph has to record, worked out from what the oracle saw.

A list of (kind, site, depth): "entry" or "exit", the call site of the function, and how many
recorded calls it is inside of.  Both sides bring it into this form, so that one comparison holds
the events, their order, their pairing and their nesting.
"""

from dataclasses import dataclass, replace

from harness.oracle import Call, Return

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


def cut_back(image, flow):
    """The flow of a program with longjmp(): the calls that it leaves end there, without an event.

    The oracle ends them when a call below them returns.  They are over before that where a call is
    made that the innermost of them did not make.  Every caller must have a call site of its own.
    """
    cut, calls, over = [], [], set()
    for position, record in enumerate(flow):
        if isinstance(record, Call):
            for call in reversed(calls):
                if id(call) in over:
                    continue
                if _made_by(image, record, call):
                    break
                over.add(id(call))
                cut.append(Return(call.cpu, call.site, call.parent, call.function, 0, late=True))
            calls.append(record)
            cut.append(record)
        elif id(calls.pop()) not in over:
            cut.append(replace(record, late=_target(flow, position) != record.parent))
    return cut


def _target(flow, position):
    """Where the jump went that this return is of: back past several calls to the last one's."""
    record = flow[position]
    for other in flow[position:]:
        if not isinstance(other, Return) or other.instructions != flow[position].instructions:
            break
        record = other
    return record.parent


def _made_by(image, call, caller):
    """Whether ``caller`` called ``call``, or ended by going there (a tail call)."""
    return call.parent == caller.parent or (
        image.function_at(call.parent) == image.function_at(caller.site)
    )


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
