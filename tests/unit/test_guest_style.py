# SPDX-License-Identifier: MIT
"""The form of the guests' sources, as in Linux: names of header guards, and lengths of lines."""

import re
from pathlib import Path

import pytest

from harness.config import resources

GUESTS = resources.guests_directory()
HEADERS = sorted(
    path.relative_to(GUESTS)
    for pattern in ("*.h", "*.h.jinja")
    for path in GUESTS.rglob(pattern)
    if path.relative_to(GUESTS) != Path("lib/include/assert.h")  # may be included again
)


def guard_of(header):
    """_ASM_X_H, _LINUX_X_H, _COMPAT_LINUX_X_H, or _X_H for a header outside include/."""
    name = re.sub(r"\W", "_", header.name.removesuffix(".jinja"))
    directory = header.parent.name
    words = [name]
    if directory in ("asm", "asm-generic", "linux") and len(header.parts) > 2:
        words.insert(0, directory.replace("-", "_"))
    if "compat" in header.parts:
        words.insert(0, "compat")
    return "_" + "_".join(words).upper()


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_a_header_guard_is_named_after_the_header(header):
    directives = [
        line for line in (GUESTS / header).read_text().splitlines() if line.startswith("#")
    ]
    guard = guard_of(header)
    assert directives[:2] == [f"#ifndef {guard}", f"#define {guard}"]
    assert directives[-1] == "#endif"


@pytest.mark.parametrize("pattern", ["*.c", "*.h", "*.S"])
def test_lines_have_at_most_100_columns(pattern):
    found = [
        f"{path.relative_to(GUESTS)}:{number}"
        for path in GUESTS.rglob(pattern)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line.expandtabs(8)) > 100
    ]
    assert not found
