# SPDX-License-Identifier: MIT
"""Damage to bytes, reproducible from the random generator."""

import random
import re
from collections.abc import Sequence

EXTREMES = tuple(
    value.to_bytes(size, "little")
    for size in (1, 2, 4, 8)
    for value in (0, 1, (1 << 8 * size - 1) - 1, 1 << 8 * size - 1, (1 << 8 * size) - 1)
)
NUMBERS = (b"0", b"-1", b"1", b"255", b"65536", b"4294967295", b"18446744073709551615", b"1e999")
NUMBERS += (b"9" * 40, b"9" * 5000)
WORDS = (b"\0", b"\n", b"\x1b[2J", b"[]", b"__data_loc ", b"char", b"{}", b"null", b'"', b"..")
WORDS += (b"/", b"\xff\xfe", b"\xed\xa0\x80", b"(" * 70, b"[" * 200, b"a" * 300)
MOST = 1 << 20
"""Bytes that an input has at most."""


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """``data`` with one to eight changes, one of which may be a piece of ``others``."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        chance.choice(_CHANGES)(changed, others, chance)
    return bytes(changed[:MOST])


def _place(data: bytearray, chance: random.Random) -> int:
    """Often in a header, which may be at the end, or in the last page, where the counts are."""
    length = len(data)
    reach = chance.choice((64, 1024, 4096, length))
    at = chance.randrange(min(length, reach) + 1)
    return length - at if reach == 4096 else at


def _flip(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    if data:
        data[min(_place(data, chance), len(data) - 1)] ^= 1 << chance.randrange(8)


def _extreme(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    value = chance.choice(EXTREMES)
    at = _place(data, chance)
    data[at : at + len(value)] = value if chance.random() < 0.5 else value[::-1]


def _noise(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    value = chance.randbytes(chance.randrange(1, 17))
    at = _place(data, chance)
    data[at : at + len(value)] = value


def _remove(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    at = _place(data, chance)
    del data[at : at + chance.choice((1, 4, 64, 4096))]


def _repeat(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    at = _place(data, chance)
    piece = data[at : at + chance.choice((1, 4, 32, 256))]
    data[at:at] = piece * chance.choice((1, 2, 50))


def _splice(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    other = chance.choice(others)
    start = chance.randrange(len(other) + 1)
    piece = other[start : start + chance.choice((4, 64, 1024))]
    at = _place(data, chance)
    data[at : at + len(piece) * chance.randrange(2)] = piece


def _word(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    at = _place(data, chance)
    data[at:at] = chance.choice(WORDS)


def _number(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Another number in place of one in a text."""
    start = _place(data, chance)
    found = re.compile(rb"\d+").search(data, start, start + 4096)
    if found:
        data[found.start() : found.end()] = chance.choice(NUMBERS)


def _cut(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    if chance.random() < 0.2:
        del data[_place(data, chance) :]


_CHANGES = (_flip, _extreme, _extreme, _noise, _remove, _repeat, _splice, _word, _number, _cut)
