# SPDX-License-Identifier: MIT
"""Symbol files, and file names that gdb can open."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from harness.debugger.session import MiSession
from harness.errors import UsageError

DEADLINE = 60.0
"""Seconds for gdb to read a file's symbols."""


class GdbSymbols:
    """The ELF files loaded by gdb."""

    def __init__(self, session: MiSession, directory: Path, changed: Callable[[], None]) -> None:
        """``directory`` is gdb's working directory; ``changed`` is called before each command."""
        self._session = session
        self._directory = directory
        self._changed = changed
        self.address_mask = (1 << 64) - 1
        """The valid bits of an address."""

    def load(self, elf: Path) -> None:
        """Load the symbols of ``elf``, the target's kernel.

        Before :meth:`Debugger.connect`, as a stub may not report its architecture.
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
        """Load the symbols of another file, linked to its address."""
        self._changed()
        self._session.console(f"add-symbol-file {self.link('added', elf)} -o 0", DEADLINE)

    def remove(self, address: int) -> None:
        """Unload the symbols of the added file at this address."""
        self._changed()
        self._session.console(f"remove-symbol-file -a 0x{address & self.address_mask:x}")

    def link(self, name: str, target: Path) -> str:
        """A name for a file or socket that can be used in gdb's commands."""
        # gdb cannot quote socket names, treats a colon as a port, and socket paths have a maximum
        # length; a symbolic link in its working directory avoids all of these.
        link = self._directory / name
        with contextlib.suppress(FileNotFoundError):
            link.unlink()
        link.symlink_to(target.absolute())
        return name
