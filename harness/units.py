# SPDX-License-Identifier: MIT
"""Sizes, and the escaping of untrusted text."""

from typing import Literal

ByteOrder = Literal["big", "little"]

KIB = 1024
MIB = 1024 * KIB


def escape(text: str, limit: int = 4096) -> str:
    """Make a guest's text printable: escape control characters, limit the length.

    Newlines and tabs stay; no terminal escape sequence survives.
    """
    shown = text if len(text) <= limit else text[:limit] + "..."
    return "".join(
        c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in shown
    )


def one_line(text: str, limit: int = 4096) -> str:
    """As `escape`, with newlines escaped too."""
    return escape(text, limit).replace("\n", "\\n")


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of ``alignment`` that is not below ``value``."""
    return -(-value // alignment) * alignment
