# SPDX-License-Identifier: MIT
"""Traces of the function graph tracer for tests, written down as what happens: calls, returns."""

import random
from collections.abc import Iterable

from ring_encoder import PageEncoder
from trace_files import address, trace_file

CALL, RETURN = 11, 10


def call(
    stamp: int, name: str, depth: int, *, pid: int = 1, flags: int = 0
) -> tuple[int, int, str, int, int, int, int]:
    """The entry of a function; ``stamp`` in nanoseconds."""
    return CALL, stamp, name, depth, pid, flags, 0


def back(
    stamp: int, name: str, depth: int, calltime: int, *, pid: int = 1, overrun: int = 0
) -> tuple[int, int, str, int, int, int, int, int]:
    """The exit of a function that was entered at ``calltime``."""
    return RETURN, stamp, name, depth, pid, 0, overrun, calltime


def graph_payload(form: tuple[str, int], event: tuple) -> bytes:
    """An event's payload as the guest's packed structures have it."""
    order, long_size = form
    number, stamp, name, depth, pid, flags, overrun, *calltime = event
    payload = number.to_bytes(2, order) + bytes([flags, 0])
    payload += pid.to_bytes(4, order, signed=True)
    payload += (address(name, long_size) if name else 0x10).to_bytes(long_size, order)
    payload += depth.to_bytes(4, order, signed=True)
    if number == RETURN:
        payload += overrun.to_bytes(4, order)
        payload += calltime[0].to_bytes(8, order) + stamp.to_bytes(8, order)
    return payload


def graph_pages(form: tuple[str, int], events: Iterable[tuple | bytes | int]) -> bytes:
    """Pages of events: those of `call` and `back`, pairs (stamp, payload), and losses (a count)."""
    pages = []
    encoder: PageEncoder | None = None
    last, lost = 0, None
    for event in events:
        if isinstance(event, int):
            lost = event
            continue
        stamp, payload = event if len(event) == 2 else (event[1], graph_payload(form, event))
        if encoder is None or encoder.room < len(payload) + 32 or lost is not None:
            pages += [encoder.page()] if encoder is not None else []
            encoder, last = PageEncoder(*form, stamp=stamp), stamp
            if lost is not None:
                encoder.lost(lost if lost > 0 else None)
                lost = None
        if stamp - last >= 1 << 27:
            encoder.extend(stamp - last)
            last = stamp
        encoder.event(stamp - last, payload, long_form=form[1] == 8)
        last = stamp
    return b"".join(pages) + (encoder.page() if encoder is not None else b"")


def graph_trace(form: tuple[str, int], *cpus: Iterable[tuple], **changes) -> bytes:
    """A trace.dat of such events, a sequence for each CPU."""
    return trace_file(form, [graph_pages(form, events) for events in cpus], **changes)


NESTED = [
    call(5_000_000_000, "start", 0),
    call(5_000_000_500, "do_work", 1),
    call(5_000_001_000, "leaf", 2),
    back(5_000_001_633, "leaf", 2, 5_000_001_000),
    call(5_000_002_000, "leaf", 2),
    back(5_000_152_345, "leaf", 2, 5_000_002_000),
    back(5_000_152_500, "do_work", 1, 5_000_000_500),
    back(5_001_152_700, "start", 0, 5_000_000_100),
]
"""``start`` calls ``do_work``, which calls ``leaf`` twice."""


def random_calls(seed: int, start: int = 1000) -> tuple[list, dict]:
    """The events of random calls, and the self time of each path in them."""
    chance = random.Random(seed)
    events, times = [], {}
    now = start

    def run(depth, path):
        nonlocal now
        name = chance.choice(["start", "do_work", "leaf", "caller"])
        path = (*path, name)
        begin = now
        events.append(call(now, name, depth))
        own = 0
        for _ in range(chance.randrange(4) if depth < 6 else 0):
            step = chance.randrange(1, 50)
            now, own = now + step, own + step
            run(depth + 1, path)
        step = chance.randrange(1, 300)
        now, own = now + step, own + step
        events.append(back(now, name, depth, begin))
        times[path] = times.get(path, 0) + own

    for _ in range(5):
        run(0, ())
    return events, times
