# SPDX-License-Identifier: MIT
"""The files that gdb knows the target by, and names that gdb can open."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from harness.debugger.session import MiSession
from harness.errors import UsageError

DEADLINE = 60.0
"""Seconds for gdb to read a file's symbols."""


class GdbSymbols:
    """ELF files whose symbols gdb has read."""

    def __init__(self, session: MiSession, directory: Path, changed: Callable[[], None]) -> None:
        """``directory`` is gdb's own; ``changed`` is called in front of each command."""
        self._session = session
        self._directory = directory
        self._changed = changed
        self.address_mask = (1 << 64) - 1
        """The bits of an address that count."""

    def load(self, elf: Path) -> None:
        """Read the symbols of ``elf``, which is what the target runs.

        Before :meth:`Debugger.connect`, for a stub may not say which architecture it has.
        """
        try:
            with elf.open("rb") as file:
                identification = file.read(16)
        except OSError as error:
            raise UsageError(f"{elf} cannot be read: {error.strerror}") from error
        if identification[:4] != b"\x7fELF":
            raise UsageError(f"{elf} is not an ELF file")
        self._changed()
        link = self.link("kernel", elf)
        self._session.command(f"-file-exec-and-symbols {link}", DEADLINE)
        self.address_mask = (1 << (32 if identification[4] == 1 else 64)) - 1

    def add(self, elf: Path) -> None:
        """Read the symbols of ``elf`` too, which is linked to the place where it lies."""
        self._changed()
        self._session.console(f"add-symbol-file {self.link('added', elf)} -o 0", DEADLINE)

    def remove(self, address: int) -> None:
        """Forget the symbols of the file, added before, that has this address."""
        self._changed()
        self._session.console(f"remove-symbol-file -a 0x{address & self.address_mask:x}")

    def link(self, name: str, target: Path) -> str:
        """A name of a file, or of a socket, that gdb can be told."""
        # gdb knows no quoting for sockets, takes a colon for a port and inherits the limit on the
        # length of a socket's path; a link in its own directory has none of these troubles.
        link = self._directory / name
        with contextlib.suppress(FileNotFoundError):
            link.unlink()
        link.symlink_to(target.absolute())
        return name
