# SPDX-License-Identifier: MIT
"""Sizes and text as people write them, and the escaping of what strangers wrote."""

import re
from typing import Literal

from harness.errors import UsageError

ByteOrder = Literal["big", "little"]

KIB = 1024
MIB = 1024 * KIB

_SIZE = re.compile(r"(\d+)\s*([KMG]?)i?B?", re.IGNORECASE)
_FACTOR = {"": 1, "K": KIB, "M": MIB, "G": 1024 * MIB}


def parse_size(text: str) -> int:
    """Bytes of a size written as QEMU takes it: ``4096``, ``64K``, ``128M``, ``1G``."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a size", "Write a number with K, M or G, such as 128M.")
    return int(match[1]) * _FACTOR[match[2].upper()]


def escape(text: str, limit: int = 4096) -> str:
    """Make text of a guest fit to print: control characters escaped, length bounded.

    Newlines and tabs stay.  Nothing that a terminal would act upon survives.
    """
    shown = text if len(text) <= limit else text[:limit] + "..."
    return "".join(
        c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in shown
    )


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of ``alignment`` that is not below ``value``."""
    return -(-value // alignment) * alignment
