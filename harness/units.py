# SPDX-License-Identifier: MIT
"""Units of memory, and the escaping of what strangers wrote."""

from typing import Literal

ByteOrder = Literal["big", "little"]

KIB = 1024
MIB = 1024 * KIB


def escape(text: str, limit: int = 4096) -> str:
    """Make text of a guest fit to print: control characters escaped, length bounded.

    Newlines and tabs stay.  Nothing that a terminal would act upon survives.
    """
    shown = text if len(text) <= limit else text[:limit] + "..."
    return "".join(
        c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in shown
    )


def one_line(text: str, limit: int = 4096) -> str:
    """The same, with newlines escaped too: what a stranger wrote begins no line of its own."""
    return escape(text, limit).replace("\n", "\\n")


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of ``alignment`` that is not below ``value``."""
    return -(-value // alignment) * alignment
