# SPDX-License-Identifier: MIT
"""What the debugger changes in a guest, for runs that are repeated with the same changes."""

from collections.abc import Callable
from typing import NamedTuple

from harness.errors import UsageError


class MemoryWrite(NamedTuple):
    """Bytes written to memory; ``physical`` if the address is one."""

    address: int
    data: bytes
    physical: bool = False


Journal = Callable[[MemoryWrite], None]
"""Called before each write to memory."""


def need_unlogged(journal: Journal | None, what: str) -> None:
    """UsageError for what a journal has no words for."""
    if journal is not None:
        raise UsageError(
            f"a run that can be replayed has no place for this: to {what}",
            "Record without --replayable.",
        )
