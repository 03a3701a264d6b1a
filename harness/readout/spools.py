# SPDX-License-Identifier: MIT
"""The events read from a guest's per-CPU ring buffers, in spool files, and its counters."""

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from harness.errors import HostError
from harness.ring import PageFormat, RingCpu

COUNTER_MASK = 0xFFFFFFFF
"""The guest's counters and sequence numbers have 32 bits and wrap."""


@dataclass(slots=True)
class Counts:
    """The guest's counters of one CPU, extended beyond 32 bits."""

    entries: int = 0
    overrun: int = 0
    dropped: int = 0

    @property
    def lost(self) -> int:
        """Events overwritten before they were read, and events refused by a full buffer."""
        return self.overrun + self.dropped

    def advance(self, cpu: RingCpu) -> int:
        """Update from the guest's counters; returns the events overwritten since the last time."""
        overwritten = (cpu.overrun - self.overrun) & COUNTER_MASK
        self.entries += (cpu.entries - self.entries) & COUNTER_MASK
        self.dropped += (cpu.dropped - self.dropped) & COUNTER_MASK
        self.overrun += overwritten
        return overwritten


class Spool:
    """The pages read from one CPU's buffer, oldest first, in a file.

    ``stream`` has whole pages only; the last one may be incomplete and is then overwritten by the
    next drain.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._room():
            # With a full disk a buffer would retry its write at every seek.
            self.stream = cast(BinaryIO, path.open("w+b", buffering=0))
        self.counts = Counts()
        self._finished = 0

    @property
    def finished(self) -> int:
        """The size in bytes of complete pages."""
        return self._finished

    def append(self, finished: bytes, unfinished: bytes) -> None:
        """Add complete pages, and the incomplete one, if any."""
        with self._room():
            self.stream.seek(self._finished)
            self._write(finished)
            self._finished += len(finished)
            self._write(unfinished)
            self.stream.truncate()

    def end(self, size: int) -> BinaryIO:
        """The last ``size`` bytes of the pages, or all if there are fewer."""
        self.stream.seek(max(0, self.stream.seek(0, 2) - size))
        return io.BytesIO(self.stream.read())

    def finish(self) -> None:
        """Keep the incomplete page: nothing will be added to it."""
        self._finished = self.stream.seek(0, 2)

    def clear(self) -> None:
        """Delete all pages."""
        self.counts, self._finished = Counts(), 0
        self.append(b"", b"")

    def state(self) -> "SpoolState":
        """The state for a snapshot of the guest."""
        self.stream.seek(0)
        return SpoolState(replace(self.counts), self.stream.read(self._finished))

    def restore(self, state: "SpoolState") -> None:
        """Return to a saved state."""
        self.counts, self._finished = replace(state.counts), 0
        self.append(state.finished, b"")

    def close(self) -> None:
        """Close the file."""
        self.stream.close()

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self.stream.write(left) :]

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise HostError(
                f"events cannot be kept in {self._path.parent}: {error.strerror}",
                "Make room there, or set TMPDIR to another directory.",
            ) from error


@dataclass(frozen=True, slots=True)
class SpoolState:
    """A saved spool: the counters and the complete pages."""

    counts: Counts
    finished: bytes


@dataclass(frozen=True, slots=True)
class CollectorState:
    """All saved spools, and where the next drain begins."""

    spools: tuple[SpoolState, ...]
    place: object = None


class Totals(NamedTuple):
    """The guest's counters, as of now."""

    entries: int
    lost: int


class EventBuffer(ABC):
    """The ring buffers of a stopped guest, and all that was read from them."""

    def __init__(self, form: PageFormat, cpus: int, directory: Path) -> None:
        self.format = form
        self.cleared = 0
        """Counts calls that emptied the spools."""
        self.disabled: set[int] = set()
        """The CPUs whose buffer was found disabled, without counters, since the spools were
        emptied.
        """
        self.spools = [Spool(directory / f"cpu{cpu}.pages") for cpu in range(cpus)]

    @abstractmethod
    def configure(self, buffer_size: int | None = None, overwrite: bool = False) -> None:
        """Empty the buffer; set its size (bytes per CPU) and whether it overwrites old events."""

    @property
    @abstractmethod
    def sizes(self) -> list[int]:
        """The size of each CPU's buffer in bytes."""

    @property
    @abstractmethod
    def overwriting(self) -> bool:
        """Whether a full buffer overwrites its oldest events."""

    @abstractmethod
    def clear(self) -> None:
        """Delete all events, in the guest and in the spools."""

    @property
    @abstractmethod
    def recording(self) -> bool:
        """``tracing_on``: whether the guest's ring buffer accepts events."""

    @recording.setter
    @abstractmethod
    def recording(self, on: bool) -> None: ...

    @abstractmethod
    def drain(
        self, full: Collection[int] = (), give_up: Callable[[], bool] = lambda: False
    ) -> bool:
        """Read the new events of every CPU; returns whether all were read."""

    @abstractmethod
    def writing(self) -> list[int]:
        """The CPUs between the reserve and the commit of an event."""

    @abstractmethod
    def totals(self) -> Totals:
        """Events written and events lost; GuestError if the guest has not set up its buffer."""

    @property
    def counts(self) -> Counts:
        """The sums of all CPUs' counters at the last drain."""
        every = [spool.counts for spool in self.spools]
        return Counts(
            sum(counts.entries for counts in every),
            sum(counts.overrun for counts in every),
            sum(counts.dropped for counts in every),
        )

    def state(self) -> "CollectorState":
        """The state for a snapshot of the guest."""
        return CollectorState(tuple(spool.state() for spool in self.spools), self._place())

    def restore(self, state: "CollectorState") -> None:
        """Return to a saved state."""
        self._return(state.place)
        for spool, one in zip(self.spools, state.spools, strict=True):
            spool.restore(one)

    def close(self) -> None:
        """Close the spools."""
        for spool in self.spools:
            spool.close()

    def _place(self) -> object:
        """Where the next drain begins, for `_return`."""
        return None

    def _return(self, place: object) -> None:
        """Begin the next drain at a place of `_place`."""
        del place

    def _forget(self) -> None:
        self.cleared += 1
        self.disabled.clear()
        for spool in self.spools:
            spool.clear()
