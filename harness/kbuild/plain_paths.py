# SPDX-License-Identifier: MIT
"""Paths that make and its shell can take."""

import re
import sys
from pathlib import Path

from harness.config import resources
from harness.errors import UsageError
from harness.units import escape

# What make and its shell take as one word.
_PLAIN = re.compile(r"[\w./+,@-]+")


class PlainPaths:
    """Symbolic links below ``work`` for paths with blanks and other special characters.

    UsageError if the path of ``work`` itself has such characters.
    """

    def __init__(self, work: Path) -> None:
        if not _PLAIN.fullmatch(str(work)):
            raise UsageError(
                f"make cannot work in {escape(str(work.parent), 500)}: the path has blanks or "
                "signs that make acts upon.",
                "Set XDG_CACHE_HOME to a directory with a plain path.",
            )
        self.work = work
        self._links: dict[Path, Path] = {}

    @property
    def links(self) -> tuple[tuple[Path, Path], ...]:
        """The links to make, each with its target."""
        return tuple(self._links.items())

    def _link(self, link: Path, target: Path) -> Path:
        self._links[link] = target
        return link

    def directory(self, path: Path, name: str) -> Path:
        """The path of a directory, or of a link with that name to it."""
        if _PLAIN.fullmatch(str(path)):
            return path
        guests = resources.guests_directory()
        if path.is_relative_to(guests):
            return self.guests() / path.relative_to(guests)
        return self._link(self.work / name, path)

    def file(self, path: Path, name: str) -> Path:
        """The path of a file; a link is to its directory, so that includes are found."""
        if not _PLAIN.fullmatch(path.name):
            raise UsageError(
                f"make cannot take a file called {escape(repr(path.name), 300)}.",
                "Give the file a name of letters, digits, dots, dashes and underscores.",
            )
        return self.directory(path.parent, name) / path.name

    def guests(self) -> Path:
        """The directory of the guests' sources."""
        guests = resources.guests_directory()
        if _PLAIN.fullmatch(str(guests)):
            return guests
        # make resolves the path of its directory, so that must be plain itself.
        plain = self.work / "guests"
        for path in sorted(guests.iterdir()):
            self._link(plain / path.name, path)
        # The guests' Makefile looks for the package of the source tree next to them.
        self._link(self.work / "harness", resources.PACKAGE)
        return plain

    def python(self) -> Path:
        """The path of the running Python."""
        python = Path(sys.executable or "/usr/bin/python3")
        # Python knows its virtual environment by the directory above the program's.
        return self.directory(python.parent.parent, "python") / python.parent.name / python.name
