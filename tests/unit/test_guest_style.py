# SPDX-License-Identifier: MIT
"""The form of the guests' sources: one name for each header guard, as in Linux."""

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
