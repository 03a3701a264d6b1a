# SPDX-License-Identifier: MIT
"""Symbol files, and file names that gdb can open."""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.debugger.session import MiSession
from harness.errors import DebuggerDied, GdbError, HostError, UsageError
from harness.units import MIB

DEADLINE = 60.0
"""Seconds for gdb to read a file's symbols."""

LARGE = 64 * MIB
"""The size of a file that is no guest of the harness."""

ARANGES, NOT_ARANGES = b"\0.debug_aranges\0", b"\0.debug_ignored\0"


class GdbSymbols:
    """The ELF files loaded by gdb."""

    def __init__(self, session: MiSession, directory: Path, changed: Callable[[], None]) -> None:
        """``directory`` is for links; ``changed`` is called before each command."""
        self._session = session
        self._directory = directory
        self._changed = changed
        self._added = 0
        self.address_mask = (1 << 64) - 1
        """The valid bits of an address."""

    def load(self, elf: Path, *, current: bool = False, index: Path | None = None) -> None:
        """Load the symbols of ``elf``, the target's kernel.

        Before :meth:`Debugger.connect`, as a stub may not report its architecture.  With
        ``current``, gdb does not warn of sources that are newer than the file: it was built from
        the same ones.  With ``index``, gdb keeps an index of the file in that directory, by its
        build id, and has it faster the next time.
        """
        try:
            with elf.open("rb") as file:
                identification = file.read(16)
        except OSError as error:
            raise UsageError(f"{elf} cannot be read: {error.strerror}") from error
        if identification[:4] != b"\x7fELF":
            raise UsageError(f"{elf} is not an ELF file")
        self._changed()
        if index is not None:
            self._session.console(f"set index-cache directory {index}")
            self._session.console("set index-cache enabled on")
        name = self._copy("kernel", elf, current=current)
        with self.among_links():
            self._session.command(f"-file-exec-and-symbols {name}", DEADLINE)
        self.address_mask = (1 << (32 if identification[4] == 1 else 64)) - 1

    def add(self, elf: Path) -> None:
        """Load the symbols of another current file, linked to its address."""
        self._changed()
        self._added += 1
        # gdb opens it again by its name.
        name = self._copy(f"added{self._added}", elf, current=True)
        with self.among_links():
            self._session.console(f"add-symbol-file {name} -o 0")

    def find_sources(self, paths: Mapping[str, Path]) -> None:
        """Set the paths of source files, by prefixes of their names in debug information.

        Of two prefixes that match, the first one counts.
        """
        for name, path in paths.items():
            self._changed()
            quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
            # A rule for the same name is replaced, and a new one comes last.
            self._session.console(f'set substitute-path {name} "{quoted}"')

    def extend(self, script: str) -> None:
        """Execute a Python file in gdb; nothing where gdb is built without Python."""
        self._changed()
        with contextlib.suppress(GdbError):
            self._session.console(f"source {script}")

    def remove(self, address: int) -> None:
        """Unload the symbols of the added file at this address."""
        self._changed()
        self._session.console(f"remove-symbol-file -a 0x{address & self.address_mask:x}")

    @contextlib.contextmanager
    def among_links(self) -> Iterator[None]:
        """gdb's working directory is that of the links during the block."""
        before = self._session.directory
        self._session.directory = str(self._directory)
        try:
            yield
        finally:
            # It may be gone, as may gdb.
            with contextlib.suppress(GdbError, DebuggerDied):
                self._session.directory = before

    def link(self, name: str, target: Path) -> str:
        """A name for a file or socket that can be used in gdb's commands: see `among_links`."""
        # gdb cannot quote socket names, treats a colon as a port, and socket paths have a maximum
        # length; a symbolic link in its working directory avoids all of these.
        link = self._directory / name
        with contextlib.suppress(FileNotFoundError):
            link.unlink()
        link.symlink_to(target.absolute())
        return name

    def _copy(self, name: str, elf: Path, *, current: bool) -> str:
        """A name for a copy of a file; a large file is not copied."""
        if elf.stat().st_size > LARGE:
            return self.link(name, elf)
        copy = self._directory / name
        copy.unlink(missing_ok=True)
        # gdb 13 does not extend the signs of the addresses in .debug_aranges, and so knows no line
        # of an address on 32-bit MIPS.  Without them it reads those of the units.
        try:
            copy.write_bytes(elf.read_bytes().replace(ARANGES, NOT_ARANGES))
            if not current:
                shutil.copystat(elf, copy)
        except OSError as error:
            raise HostError(
                f"{elf} cannot be copied to {self._directory}: {error.strerror}",
                "Make room there, or set TMPDIR to another directory.",
            ) from error
        return name
