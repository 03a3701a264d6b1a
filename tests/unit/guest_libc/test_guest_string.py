# SPDX-License-Identifier: MIT
"""The guests' string.h does what the host's does, or what Python says."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import COMPILER, GUESTS, HOST, Guest, needs_compiler, sign

pytestmark = needs_compiler


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 90), st.booleans())
@settings(max_examples=300, deadline=None)
def test_memmove_memcpy(
    guest: Guest, destination: int, source: int, size: int, overlap: bool
) -> None:
    expected = bytearray(range(256))
    area = (ctypes.c_ubyte * 256)(*range(256))
    base = ctypes.addressof(area)
    if not overlap:
        destination += 128
    expected[destination : destination + size] = expected[source : source + size]
    function = guest.function("memmove" if overlap else "memcpy", ctypes.c_void_p)
    to = ctypes.c_void_p(base + destination)
    assert function(to, ctypes.c_void_p(base + source), ctypes.c_size_t(size)) == to.value
    assert bytes(area) == bytes(expected)


@given(st.integers(0, 20), st.integers(0, 90), st.integers(-300, 300))
@settings(max_examples=300, deadline=None)
def test_memset(guest: Guest, offset: int, size: int, byte: int) -> None:
    expected = bytearray(128)
    expected[offset : offset + size] = bytes([byte & 0xFF]) * size
    area = (ctypes.c_ubyte * 128)()
    to = ctypes.c_void_p(ctypes.addressof(area) + offset)
    assert guest.function("memset", ctypes.c_void_p)(to, byte, ctypes.c_size_t(size)) == to.value
    assert bytes(area) == bytes(expected)


def call_both(guest: Guest, name: str, *arguments: Any) -> None:
    """Compare with the host's function: the sign of a comparison, or a pointer or a number."""
    results = []
    for function in (guest.function(name, ctypes.c_ssize_t), HOST[name]):
        function.restype = ctypes.c_int if "cmp" in name else ctypes.c_ssize_t
        result = function(*arguments)
        results.append(sign(result) if "cmp" in name else result)
    assert results[0] == results[1], (name, arguments)


# Few letters, so that the strings have much in common.
words = st.lists(st.sampled_from(b"ab\xe4"), max_size=12).map(bytes)


@given(words, words, st.sampled_from(b"ab\xe4\0"), st.integers(0, 14))
@settings(max_examples=200, deadline=None)
def test_string_functions(guest: Guest, left: bytes, right: bytes, byte: int, size: int) -> None:
    a = ctypes.create_string_buffer(left)
    b = ctypes.create_string_buffer(right)
    limit = ctypes.c_size_t(size)
    for name in ("strcmp", "strstr", "strspn", "strcspn", "strpbrk"):
        call_both(guest, name, a, b)
    call_both(guest, "strncmp", a, b, limit)
    call_both(guest, "memcmp", a, b, ctypes.c_size_t(min(size, len(left), len(right))))
    call_both(guest, "strlen", a)
    call_both(guest, "strnlen", a, limit)
    call_both(guest, "strchr", a, byte)
    call_both(guest, "strrchr", a, byte)
    call_both(guest, "memchr", a, byte, ctypes.c_size_t(min(size, len(left))))


@given(words, words, st.integers(0, 14))
@settings(max_examples=300, deadline=None)
def test_string_copies(guest: Guest, left: bytes, right: bytes, size: int) -> None:
    for name in ("strcpy", "strcat", "strncpy", "strncat"):
        results = []
        for function in (guest.function(name, ctypes.c_void_p), HOST[name]):
            function.restype = ctypes.c_void_p
            area = ctypes.create_string_buffer(left + b"\0" + b"\xee" * 40)
            arguments = [ctypes.c_size_t(size)] if "n" in name else []
            assert function(area, right, *arguments) == ctypes.addressof(area)
            results.append(area.raw)
        assert results[0] == results[1], name


def test_strtok(guest: Guest) -> None:
    area = ctypes.create_string_buffer(b",,first, second;;third")
    strtok = guest.function("strtok", ctypes.c_char_p)
    tokens = [strtok(area, b",; ")]
    while tokens[-1] is not None:
        tokens.append(strtok(None, b",; "))
    assert tokens == [b"first", b"second", b"third", None]


def test_strdup(fresh: Guest) -> None:
    copy = fresh.function("strdup", ctypes.c_void_p)(b"a string")
    assert ctypes.string_at(copy) == b"a string"
    fresh.free(copy)
    assert fresh.malloc_check() == 0


def test_no_function_calls_itself(tmp_path: Path) -> None:
    """Gcc replaces a loop that fills or copies memory by a call to memset or memcpy."""
    for level in ("-O2", "-O3"):
        for source in ("string.c", "libgcc.c"):
            assert COMPILER is not None
            command = [COMPILER, "-std=gnu11", level, "-ffreestanding", "-fPIC", "-c"]
            include = ["-I", GUESTS / "lib/include", "-I", GUESTS / "kernel/include"]
            target = tmp_path / "object.o"
            subprocess.run([*command, *include, GUESTS / "lib" / source, "-o", target], check=True)
            listing = subprocess.run(
                ["objdump", "-dr", target], capture_output=True, text=True, check=True
            ).stdout
            for body in re.split(r"\n(?=[0-9a-f]+ <)", listing)[1:]:
                name = body[body.index("<") + 1 : body.index(">")]
                assert name not in re.findall(r"R_\w+\s+(\w+)", body), f"{source} {level}"
