# SPDX-License-Identifier: MIT
"""Patches with their expected code, grouped into few transfers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.errors import UsageError

GAP = 4096
"""Patches closer than this share a transfer, whose overhead is about that of 4 KiB."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace ``old`` by ``new`` at ``address``; ``what`` names the place in messages.

    ``old`` and ``new`` are instructions in memory order of equal length, at multiples of ``unit``
    bytes.  The first of ``old`` may be a call that sets its return register before its delay slot
    of ``delay_slot`` bytes is executed.
    """

    address: int
    old: bytes
    new: bytes
    what: str
    delay_slot: int = 0
    unit: int = 4

    def __post_init__(self) -> None:
        if len(self.old) != len(self.new) or not self.old or len(self.old) % self.unit:
            raise UsageError(f"the patch of {self.what} does not replace whole words by as many")
        if self.address % self.unit:
            raise UsageError(f"the patch of {self.what} at {self.address:#x} is not word aligned")

    @property
    def end(self) -> int:
        """The first address behind the patch."""
        return self.address + len(self.old)

    @property
    def interior(self) -> range:
        """Program counters that no CPU may have while this patch is written.

        A CPU at the first changed word will execute only new words, and one behind the last has
        executed only old ones.  In between it would execute a mixture: on o32 the stack adjustment
        of a call that did not happen.  The delay slot of a call is inside: an interrupt there
        returns to the call, with the return register already changed.  Empty if only one word
        changes that is not such a call.
        """
        changed = self._changed
        if not changed:
            return range(0)
        behind = max(changed[-1] + self.unit, self._behind_call)
        return range(changed[0] + self.unit, behind, self.unit)

    @property
    def unsafe(self) -> range:
        """Addresses at which no interrupted frame or preempted thread may continue.

        The `interior`, and also the call itself, as its delay slot may have been interrupted.
        """
        interior = self.interior
        return range(self.address, interior.stop, self.unit) if self._behind_call else interior

    @property
    def behind(self) -> int:
        """The first address after the site."""
        return max(self.end, self._behind_call)

    @property
    def _changed(self) -> list[int]:
        return [
            self.address + offset
            for offset in range(0, len(self.old), self.unit)
            if self.old[offset : offset + self.unit] != self.new[offset : offset + self.unit]
        ]

    @property
    def _behind_call(self) -> int:
        """The return address of the call; 0 if it does not change, or if there is none."""
        if not self.delay_slot or self.old[: self.unit] == self.new[: self.unit]:
            return 0
        return self.address + self.unit + self.delay_slot


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring patches that are read and written in one transfer."""

    patches: tuple[Patch, ...]

    @property
    def address(self) -> int:
        """Where the transfer begins."""
        return self.patches[0].address

    @property
    def size(self) -> int:
        """Bytes of the transfer."""
        return self.patches[-1].end - self.address

    def found(self, memory: bytes, patch: Patch) -> bytes:
        """The bytes of ``memory``, a read of this span, at ``patch``."""
        start = patch.address - self.address
        return memory[start : start + len(patch.old)]

    def patched(self, memory: bytes) -> bytes:
        """``memory`` with all patches applied."""
        image = bytearray(memory)
        for patch in self.patches:
            start = patch.address - self.address
            image[start : start + len(patch.new)] = patch.new
        return bytes(image)


class PatchPlan:
    """Patches in order of address, without overlaps."""

    def __init__(self, patches: Iterable[Patch]) -> None:
        self._patches = sorted(patches, key=lambda patch: patch.address)
        for before, after in pairwise(self._patches):
            if after.address < before.end:
                raise UsageError(f"the patches of {before.what} and {after.what} overlap")

    def __len__(self) -> int:
        return len(self._patches)

    def __iter__(self) -> Iterator[Patch]:
        return iter(self._patches)

    def spans(self, gap: int = GAP) -> Iterator[Span]:
        """The patches in groups at least ``gap`` bytes apart."""
        group: list[Patch] = []
        for patch in self._patches:
            if group and patch.address - group[-1].end >= gap:
                yield Span(tuple(group))
                group = []
            group.append(patch)
        if group:
            yield Span(tuple(group))
