# SPDX-License-Identifier: MIT
"""The function events of a Linux kernel against QEMU's own record of executed calls."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import boot
from harness.config import LinuxConfig, load_any_config
from harness.guest import Guest
from harness.guest.linux_start import read_vmlinux
from harness.image import Image
from harness.oracle import Oracle
from harness.trace import FunctionEvent, TraceEvent

UNMITIGATED = "kpti=off mitigations=off nospectre_bhb"
"""Exceptions enter by the vectors themselves, and not by copies of them."""

ROUNDS, EVENTS, BUFFER = 1000, 100_000, 8 << 20


class Called(NamedTuple):
    """A function's address, and where it returns to."""

    function: int
    parent: int


def follow_exceptions(oracle: Oracle, guest: Guest) -> None:
    """Tell the oracle where the kernel has put its exception vectors, if only it knows."""
    isa, symbols = guest.image.isa, guest.image.symbols
    if isa.cpu.vectors_symbol in symbols:
        return
    pointer = guest.debugger.read_memory(symbols[isa.linux.vectors], isa.word_size)
    start = int.from_bytes(pointer, guest.image.byteorder)
    oracle.set_vectors(start)
    vectors = guest.debugger.read_memory(start, max(isa.cpu.vector_offsets) + 0x80)
    guest.debugger.write_memory(start, vectors)


def executed(oracle: Oracle, guest: Guest) -> list[Called]:
    """The calls that QEMU executed, in order.

    Some functions in assembler begin like a patchable entry, which they are not by the kernel's
    records.
    """
    traceable = {start_of(guest.image, site.address) for site in guest.image.sites}
    calls = (Called(start_of(guest.image, one.site), one.parent) for one in oracle.records())
    return [call for call in calls if call.function in traceable]


def traced(events: Iterable[TraceEvent], image: Image) -> list[Called]:
    """The calls that the kernel's tracer recorded, in order."""
    return [
        Called(start_of(image, event.ip), event.parent_ip)
        for event in events
        if isinstance(event, FunctionEvent)
    ]


def start_of(image: Image, address: int) -> int:
    """The first address of the function that contains this one."""
    function = image.function_at(address)
    assert function is not None, hex(address)
    return function.address


def unmatched(calls: Sequence[Called], events: Sequence[Called]) -> list[Called]:
    """The calls without an event; an event without a call is an error.

    A call's event is written a little later.  An interrupt meanwhile has its own events before it,
    so a call may only be overtaken by those that came behind it.
    """
    waiting: list[Called] = []
    coming = iter(calls)
    for number, event in enumerate(events):
        if waiting and waiting[-1] == event:
            waiting.pop()
            continue
        for call in coming:
            if call == event:
                break
            waiting.append(call)
        else:
            raise AssertionError(f"event {number} of {len(events)} is no call: {event}")
    return [*waiting, *coming]


def test_every_event_is_an_executed_call_and_the_other_way_round(
    linux_config: Path, tmp_path: Path
) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    append = f"{loaded.linux.append} {UNMITIGATED} do=work:{ROUNDS},poweroff"
    config = loaded.model_copy(update={"linux": loaded.linux.model_copy(update={"append": append})})
    image = read_vmlinux(config.linux.vmlinux.read_bytes(), str(config.linux.vmlinux))
    with (
        Oracle(image, tmp_path) as oracle,
        boot(
            config, deterministic=True, plugins=[oracle.argument], timeout=600.0, buffer_size=BUFFER
        ) as guest,
    ):
        follow_exceptions(oracle, guest)
        guest.collector.configure()
        guest.tracer.current = "function"
        # Up to here the debugger has called functions of the kernel, which are not traced.
        oracle.reset()
        oracle.window(True)
        guest.run(timeout=600.0)
        oracle.window(False)
        events = traced(guest.tracer.events(), guest.image)
        calls = executed(oracle, guest)
    assert len(events) > EVENTS
    assert unmatched(calls, events) == []


def test_a_lost_and_an_extra_event_are_found() -> None:
    one, two, other = Called(1, 10), Called(2, 20), Called(3, 30)
    # The second call interrupts the first one before its event is written.
    assert unmatched([one, two, other], [two, one, other]) == []
    assert unmatched([one, two, other], [one, other]) == [two]
    for events in ([one, two, two, other], [one, two, Called(3, 31)], [other, one, two]):
        with pytest.raises(AssertionError, match="is no call"):
            unmatched([one, two, other], events)
