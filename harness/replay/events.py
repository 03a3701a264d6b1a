# SPDX-License-Identifier: MIT
"""From the events of a recording to the instructions that made them, and back."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from harness.debugger import Debugger
from harness.errors import GuestError, UsageError
from harness.files import trace_file
from harness.image import RunningImage
from harness.replay.run import Replay
from harness.ring import RingHeader
from harness.ring.header import FIXED_SIZE, header_length
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.filter import Predicate, parse_filters

CLOSE = 2000
"""Instructions within which the debugger's own search takes over."""

RETURN = "return_to_handler"


class EventPlace(NamedTuple):
    """An event: its number in the file, from 0, and the number of events written before it."""

    number: int
    written: int
    event: TraceEvent


class RecordedEvents:
    """The events of a recording with one CPU, and where they happened."""

    def __init__(
        self, replay: Replay, image: RunningImage, debugger: Debugger, trace: Path
    ) -> None:
        self._replay = replay
        self._image = image
        self._debugger = debugger
        self._trace = trace
        self._visited: dict[int, int] = {}

    def visited(self, place: int) -> None:
        """Remember how many events were written up to here."""
        self._visited[place] = self.written

    @cached_property
    def all(self) -> list[EventPlace]:
        """Every event of the trace.dat, in its order; none without a trace.dat."""
        found: list[EventPlace] = []
        lost = 0
        if not self._trace.exists():
            return found
        with trace_file(self._trace) as reader:
            for number, event in enumerate(reader.events()):
                lost += event.lost
                found.append(EventPlace(number, number + lost, event))
        return found

    @property
    def written(self) -> int:
        """The number of events that the guest has written."""
        header = self._image.address_of("ring_buffer")
        if not any(self._debugger.read_memory(header, FIXED_SIZE)):
            return 0  # It is not set up yet.
        raw = self._debugger.read_memory(self._counter, 4)
        return int.from_bytes(raw, self._image.byteorder)

    @property
    def next(self) -> int:
        """The number of the first event that is not written yet; that of events if all are."""
        return bisect_left([one.written for one in self.all], self.written)

    def numbered(self, number: int) -> EventPlace:
        """An event by number; UsageError if there is none."""
        if not 0 <= number < len(self.all):
            raise UsageError(
                f"there is no event {number}", f"The recording has {len(self.all)} events, from 0."
            )
        return self.all[number]

    def at_time(self, stamp: int) -> EventPlace:
        """The first event at or after a time in nanoseconds; UsageError if there is none."""
        at = bisect_left([one.event.stamp for one in self.all], stamp)
        if at == len(self.all):
            raise UsageError("the recording has no event at or after that time")
        return self.all[at]

    def of_function(self, name: str, count: int) -> EventPlace:
        """The ``count``-th call of a function, from 1; UsageError if there is none."""
        seen = 0
        for one in self.all:
            if _plain(one.event.function) == name and not isinstance(one.event, FuncgraphExitEvent):
                seen += 1
                if seen == count:
                    return one
        raise UsageError(
            f"the recording has {seen} calls of {name}", "See: report, or goto @INSTRUCTION"
        )

    def beside(self, forward: bool, filters: tuple[str, ...] = ()) -> EventPlace:
        """The next or previous event that a filter selects; UsageError if there is none.

        Standing at an event, that event is neither.
        """
        keep = self._predicate(filters)
        here = self.next
        if forward:
            here += self.stands_at(here)
        chosen = self.all[here:] if forward else reversed(self.all[:here])
        for one in chosen:
            if keep is None or keep(one.event):
                return one
        raise UsageError(f"there is no {'next' if forward else 'previous'} event of that kind")

    def stands_at(self, number: int) -> bool:
        """Whether the guest is at the instruction of an event."""
        if number >= len(self.all):
            return False
        pc = self._debugger.read_register(self._image.isa.abi.pc_register)
        return self._place_of(self.all[number].event) == pc & self._image.isa.mask

    def goto(self, one: EventPlace) -> None:
        """Go to the instruction of an event.

        A call is at its site, a return at the entry of return_to_handler; another event is behind
        the store that counts it.

        Raises:
            GuestError: the replay does not have it.
        """
        self._go_behind(one)
        place = self._place_of(one.event)
        if place is not None:
            found = self._replay.back_to(place)
            while found and self.written > one.written:
                found = self._replay.back_to(place)
        else:
            found = self._back_to_store(one)
        if not found:
            raise GuestError(f"the replay does not have event {one.number}")

    def _go_behind(self, one: EventPlace) -> None:
        """Go to a place at which the event is written, and few others behind it."""
        known = sorted(self._visited.items())
        counts = [written for _, written in known]
        # Counters are reset when a recording begins.
        first = next(
            at
            for at in range(len(known))
            if all(counts[k] <= counts[k + 1] for k in range(at, len(known) - 1))
        )
        at = bisect_right(counts, one.written, first)
        if at == len(known):
            raise GuestError(
                f"the replay has written {counts[-1]} events, and the trace has more",
                "It does not follow the recording.",
            )
        low, high = known[max(at - 1, first)][0], known[at][0]
        while high - low > CLOSE:
            middle = (low + high) // 2
            self._replay.goto(middle)
            if self.written > one.written:
                high = middle
            else:
                low = middle
        self._replay.goto(high)

    def _back_to_store(self, one: EventPlace) -> bool:
        with self._watched():
            while self.written > one.written + 1 or self._replay.icount == self._replay.end:
                if not self._replay.reverse_continue():
                    return False
        return True

    @contextmanager
    def _watched(self) -> Iterator[None]:
        answer = self._debugger.command(
            f'-break-watch "*(unsigned int*)0x{self._counter & self._image.isa.mask:x}"'
        )
        number = int(answer["wpt"]["number"])
        try:
            yield
        finally:
            self._debugger.breakpoints.delete(number)

    def _place_of(self, event: TraceEvent) -> int | None:
        if isinstance(event, FunctionEvent):
            return event.ip & self._image.isa.mask
        if isinstance(event, FuncgraphEntryEvent):
            named = _plain(event.function)
            sites = [site for site in self._image.sites if site.function == named]
            return sites[0].ip & self._image.isa.mask if len(sites) == 1 else None
        if isinstance(event, FuncgraphExitEvent):
            place = self._image.symbols.get(RETURN)
            return None if place is None else place & self._image.isa.mask
        return None

    @cached_property
    def _counter(self) -> int:
        """The address of the ring buffer's counter of events of CPU 0."""
        address = self._image.address_of("ring_buffer")
        data = self._debugger.read_memory(address, FIXED_SIZE)
        size = header_length(data, self._image.byteorder)
        header = RingHeader.parse(self._debugger.read_memory(address, size), self._image.byteorder)
        return address + header.cpus[0].field_offset("entries")

    def _predicate(self, filters: tuple[str, ...]) -> Predicate | None:
        with trace_file(self._trace) as reader:
            return parse_filters(filters, reader.formats.values())


def _plain(function: str) -> str:
    """A function's name without the module's name after it."""
    return function.partition(" [")[0]
