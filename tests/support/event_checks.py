# SPDX-License-Identifier: MIT
"""What every trace holds besides the order of its events: threads and times."""

from collections import defaultdict

from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent


def check_threads(pairs):
    """Each thread of the oracle is one process in the trace."""
    pids = {}
    for pid, thread in pairs:
        assert pids.setdefault(thread, pid) == pid
    named = [pid for pid in pids.values() if pid]
    assert len(named) == len(set(named))


def check_times(events):
    """An exit has its entry's time, and what the function called lies between the two."""
    threads = defaultdict(dict)
    for event in events:
        if not isinstance(event, FuncgraphEntryEvent | FuncgraphExitEvent):
            continue
        # Idle threads, one for each CPU, have one process id.
        places = threads[event.pid, event.cpu if event.pid == 0 else None]
        if isinstance(event, FuncgraphEntryEvent):
            places[event.depth] = (event, [])
            continue
        entry, inner = places.pop(event.depth)
        assert entry.func == event.func
        assert entry.stamp == event.calltime <= event.rettime == event.stamp
        assert all(event.calltime <= child.calltime for child in inner)
        assert all(child.rettime <= event.rettime for child in inner)
        if event.depth - 1 in places:
            places[event.depth - 1][1].append(event)
