# SPDX-License-Identifier: MIT
"""A Linux source tree, searched as text, with results by file and line."""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.units import KIB, escape

LARGEST = 1024 * KIB
"""Bytes; the longest file that is read, kernel/trace/ftrace.c, has 200 KB."""

_VERSION = r"^VERSION = (\d{1,3})\nPATCHLEVEL = (\d{1,3})$"


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line of a file of the tree."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LinuxTree:
    """A directory with a Linux tree, or with the needed parts of one."""

    def __init__(self, directory: Path) -> None:
        """UsageError for a directory that is no Linux tree."""
        self.directory = directory
        self.unread: set[str] = set()
        """Files that were asked for, and could not be read."""
        version = re.search(_VERSION, self.read("Makefile"), re.MULTILINE)
        if not version or not self.read("Kconfig"):
            raise UsageError(
                f"{escape(str(directory), 500)} is no Linux tree: there is no Makefile with a "
                "VERSION and a PATCHLEVEL, or no Kconfig.",
                "Give the directory of Linux's sources.",
            )
        self.version = f"{version[1]}.{version[2]}"

    def read(self, file: str) -> str:
        """The text of a file; empty if it cannot be read."""
        path = self.directory / file
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            pass
        self.unread.add(file)
        return ""

    def find(self, file: str, pattern: str) -> SourcePlace | None:
        """The first line of a file that matches a regular expression."""
        for number, line in enumerate(self.read(file).splitlines(), 1):
            if re.search(pattern, line):
                return SourcePlace(file, number, line.strip())
        return None

    def find_in_entry(self, file: str, entry: str, pattern: str) -> list[SourcePlace]:
        """The lines of one ``config`` of a Kconfig file that match."""
        found, inside = [], False
        for number, line in enumerate(self.read(file).splitlines(), 1):
            if line and not line[0].isspace() and not line.startswith("#"):
                inside = line.split() == ["config", entry]
            elif inside and re.search(pattern, line):
                found.append(SourcePlace(file, number, line.strip()))
        return found
