# SPDX-License-Identifier: MIT
"""Sizes, and the escaping of untrusted text."""

import re
from typing import Literal

ByteOrder = Literal["big", "little"]

KIB = 1024
MIB = 1024 * KIB

_NOT_ASCII_TEXT = re.compile(r"[^\n\t -~]")


def escape(text: str, limit: int = 4096) -> str:
    """Make a guest's text printable: escape control characters, limit the length.

    Newlines and tabs stay; no terminal escape sequence survives.
    """
    shown = text if len(text) <= limit else text[:limit] + "..."
    return _NOT_ASCII_TEXT.sub(_escaped, shown)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def one_line(text: str, limit: int = 4096) -> str:
    """As `escape`, with newlines escaped too."""
    return escape(text, limit).replace("\n", "\\n")


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of ``alignment`` that is not below ``value``."""
    return -(-value // alignment) * alignment
