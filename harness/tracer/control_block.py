# SPDX-License-Identifier: MIT
"""A structure of the guest that the harness writes, field by field."""

import struct
from collections.abc import Sequence

from harness.image import Image
from harness.patcher import Text


class ControlBlock:
    """The C structure at ``symbol``: ``layout`` as in `struct`, one name for each of its fields.

    The guest must be stopped.  Nothing between the fields is written.
    """

    def __init__(
        self, image: Image, memory: Text, symbol: str, layout: str, names: Sequence[str]
    ) -> None:
        self._memory = memory
        self._address = image.address_of(symbol)
        self._struct = struct.Struct((">" if image.byteorder == "big" else "<") + layout)
        self._names = names

    def read(self) -> dict[str, int]:
        """All fields by name."""
        raw = self._memory.dump_memory(self._address, self._struct.size)
        return dict(zip(self._names, self._struct.unpack(raw), strict=True))

    def write(self, **changes: int) -> None:
        """Change some of the fields."""
        fields = self.read() | changes
        self._memory.restore_memory(self._address, self._struct.pack(*fields.values()))
