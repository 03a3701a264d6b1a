# SPDX-License-Identifier: MIT
"""The debugger's writes to a guest, for runs that are repeated with the same writes."""

from collections.abc import Callable
from typing import NamedTuple

from harness.errors import UsageError


class MemoryWrite(NamedTuple):
    """Bytes written to memory; ``physical`` if the address is one."""

    address: int
    data: bytes
    physical: bool = False


class RegisterWrite(NamedTuple):
    """A register set to a number, or a part of one (``v0.d.u[1]``) to a constant of gdb's."""

    register: str
    value: int | str


Write = MemoryWrite | RegisterWrite
Journal = Callable[[Write], None]
"""Called before each write to memory or to a register of the selected thread."""


def need_unlogged(journal: Journal | None, what: str) -> None:
    """UsageError for changes that a journal cannot hold."""
    if journal is not None:
        raise UsageError(
            f"a run that can be replayed has no place for this: to {what}",
            "Record without --replayable.",
        )
