# SPDX-License-Identifier: MIT
"""The same search where code is written byte by byte: no register holds a whole instruction."""

from dataclasses import replace
from functools import cached_property

from harness.conformance.localization.memory_path import MemoryPath
from harness.conformance.localization.patching_search import COMPARED, Search
from harness.conformance.places import definition_of
from harness.conformance.verdict import Place


class ByteSearch(Search):
    """Follows a wrong byte through memory to what made it."""

    @cached_property
    def _path(self) -> MemoryPath:
        return MemoryPath(self._bench, self.executed, self._registers)

    def compared(self) -> Place | None:
        """As of `Search`, of the bytes."""
        made = self._path.compared(self._asked(), self.watched)
        return None if made is None else self._place(made, COMPARED)

    def _chosen(self) -> int | None:
        # The text may begin in the middle of an instruction.
        return None

    def _made(self) -> Place | None:
        made = self._path.source(*self._wrong_byte())
        return self._copied() if made is None else self._made_at(made)

    def _copied(self) -> Place | None:
        """The definition of the object that the wrong byte was copied from."""
        held = self._path.held_at(*self._wrong_byte())
        if held is None:
            return None
        bench = self._bench
        directory, name = bench.variant.spec.port.directory, bench.image.object_at(held)
        place = definition_of(directory, name) if name else None
        return place and replace(place, how="has the byte that was written")

    def _wrong_byte(self) -> tuple[int, int]:
        """The last store of a wrong byte, and its address."""
        store = self._judged[-1]
        offsets = range(len(self._seen[-1]))
        differs = [at for at in offsets if self._seen[store][at] != self._seen[store + 1][at]]
        wrong = [at for at in differs if self.right and self._seen[-1][at] != self.right[at]]
        return store, self.watched.start + [*wrong, *differs][0]
