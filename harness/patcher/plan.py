# SPDX-License-Identifier: MIT
"""What to change: patches with the code they must find, grouped into few transfers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.errors import UsageError

GAP = 4096
"""Patches closer than this share a transfer: a transfer costs about as much as 4 KiB of payload."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace ``old`` by ``new`` at ``address``; ``what`` names the place in a report.

    ``old`` and ``new`` are instructions as they lie in memory, equally long, which begin at
    multiples of ``unit`` bytes.  The first of ``old`` may be a call that sets its return register
    before its delay slot has been executed, of ``delay_slot`` bytes.
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
        """Program counters that must not be in use while this patch is written.

        A CPU at the first changed word sees only new words, and one behind the last has seen only
        old ones.  In between it would run a mixture: on o32 the stack adjustment of a call that
        never happened.  The delay slot of a call counts as inside: an interrupt there would bring
        the CPU back to the call, with the return register changed already.  Empty when just one
        word changes and that is no such call.
        """
        changed = self._changed
        if not changed:
            return range(0)
        behind = max(changed[-1] + self.unit, self._behind_call)
        return range(changed[0] + self.unit, behind, self.unit)

    @property
    def unsafe(self) -> range:
        """Where, likewise, an interrupted frame or a preempted thread must not go on.

        That is also at a call, for nobody can tell whether its delay slot was interrupted.
        """
        interior = self.interior
        return range(self.address, interior.stop, self.unit) if self._behind_call else interior

    @property
    def behind(self) -> int:
        """Where whatever was inside is outside again."""
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
        """The address that the call returns to; 0 if it stays, or if there is none."""
        if not self.delay_slot or self.old[: self.unit] == self.new[: self.unit]:
            return 0
        return self.address + self.unit + self.delay_slot


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring patches that one transfer reads or writes."""

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
        """What ``memory``, a read of this span, holds where ``patch`` applies."""
        start = patch.address - self.address
        return memory[start : start + len(patch.old)]

    def patched(self, memory: bytes) -> bytes:
        """``memory`` with every patch of this span applied."""
        image = bytearray(memory)
        for patch in self.patches:
            start = patch.address - self.address
            image[start : start + len(patch.new)] = patch.new
        return bytes(image)


class PatchPlan:
    """Patches in address order, none of which overlaps another."""

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
        """The patches grouped so that no two groups lie closer than ``gap`` bytes."""
        group: list[Patch] = []
        for patch in self._patches:
            if group and patch.address - group[-1].end >= gap:
                yield Span(tuple(group))
                group = []
            group.append(patch)
        if group:
            yield Span(tuple(group))
