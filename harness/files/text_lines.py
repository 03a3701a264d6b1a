# SPDX-License-Identifier: MIT
"""Lines of a text file whose name is a stranger's."""

from pathlib import Path

from harness.units import MIB, one_line

LONGEST_FILE = 4 * MIB
LONGEST_LINE = 200


def lines_below(directory: Path, name: str) -> list[str]:
    """The lines of a file in a directory, escaped, with tabs as blanks.

    There are none if it cannot be read, or lies elsewhere: names in debug information, and links,
    are not trusted.
    """
    try:
        file = (directory / name).resolve()
        if not (file.is_relative_to(directory.resolve()) and file.is_file()):
            return []
        if file.stat().st_size > LONGEST_FILE:
            return []
        text = file.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return []
    return [one_line(line.rstrip().expandtabs(8), LONGEST_LINE) for line in text.split("\n")]
