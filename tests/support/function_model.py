# SPDX-License-Identifier: MIT
"""What the function tracer has to record, worked out from what the oracle saw.

An event lies in the buffer of the CPU, and at the place among that CPU's events, where the tracer
masked interrupts for it: an interrupt before that is traced before it, and the thread may have been
moved to another CPU since it executed the call site.  A call has no event for one reason only: the
tracer was switched off while the call was on its way there.
"""

from collections import defaultdict

from harness.oracle import Call, Mark, Window

TRACER = "function_trace_call"


class Lost(AssertionError):
    """A call site that is switched on was executed, and the tracer was not called."""


def expected(records, wanted=None):
    """(events, given up): calls in order for each CPU, and calls that did not come to the tracer.

    ``wanted`` names the functions that are traced; None stands for all of them.
    """
    events = defaultdict(list)
    on_the_way, excused, given_up = {}, set(), []
    for record in records:
        if isinstance(record, Window):
            if not record.open:
                excused |= set(on_the_way)
            continue
        place = (record.thread, record.level)
        if isinstance(record, Call):
            if wanted is not None and record.function not in wanted:
                continue
            if place in on_the_way and place not in excused:
                raise Lost(on_the_way[place])
            if place in excused:
                excused.discard(place)
                given_up.append(on_the_way.pop(place))
            on_the_way[place] = record
        elif isinstance(record, Mark) and record.function == TRACER:
            excused.discard(place)
            events[record.cpu].append(on_the_way.pop(place))
    return dict(events), [*given_up, *on_the_way.values()]


def recorded(events):
    """The ``function`` events of a trace, in order for each CPU."""
    per_cpu = defaultdict(list)
    for event in events:
        if event.name == "function":
            per_cpu[event.cpu].append(event)
    return dict(per_cpu)


def check(events, records, wanted=None, running=()):
    """The trace is what the oracle says it has to be; gives the events of each CPU.

    ``running`` are CPUs that were stopped anywhere: their last event may not be written yet.
    """
    found = recorded(events)
    calls, _ = expected(records, wanted)
    for cpu in running:
        if len(calls.get(cpu, ())) == len(found.get(cpu, ())) + 1:
            calls[cpu].pop()
    calls = {cpu: each for cpu, each in calls.items() if each}
    assert {cpu: [event.ip for event in each] for cpu, each in found.items()} == {
        cpu: [call.site for call in each] for cpu, each in calls.items()
    }
    pairs = [pair for cpu in found for pair in zip(found[cpu], calls[cpu], strict=True)]
    for event, call in pairs:
        # A thread's first function has no caller.
        assert call.parent in (0, event.parent_ip)
    check_threads((event.pid, call.thread) for event, call in pairs)
    return found


def check_threads(pairs):
    """Each thread of the oracle is one process in the trace."""
    pids = {}
    for pid, thread in pairs:
        assert pids.setdefault(thread, pid) == pid
    named = [pid for pid in pids.values() if pid]
    assert len(named) == len(set(named))
