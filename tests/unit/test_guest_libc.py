# SPDX-License-Identifier: MIT
"""The guests' C library, compiled for the host and compared with the host's library and Python.

Every symbol of guests/lib gets the prefix ``guest_``, so that it can live beside the host's
C library in one process. Undefined behaviour traps, and is then a crash of the test run.
"""

import ctypes
import functools
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

GUESTS = Path(__file__).parents[2] / "guests"
COMPILER = shutil.which(os.environ.get("CC", "gcc"))
HOST = ctypes.CDLL(None)
HEAP_SIZE = 1 << 16

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler for the host")

DRIVER = """
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEAP_SIZE 65536

_Alignas(16) char guest___heap_start[HEAP_SIZE];
__asm__(".globl guest___heap_end\\n.set guest___heap_end, guest___heap_start + 65536");

char console[1 << 16];
size_t console_used;
size_t console_largest_write;
char panic_text[512];
static jmp_buf on_panic;

void guest_console_write(const char *text, size_t size)
{
	memcpy(console + console_used, text, size);
	console_used += size;
	if (size > console_largest_write)
		console_largest_write = size;
}

void guest_panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(panic_text, sizeof(panic_text), format, arguments);
	va_end(arguments);
	longjmp(on_panic, 1);
}

int heap_locked;

void guest_heap_lock(void)
{
	if (heap_locked++)
		guest_panic("malloc takes its lock twice");
}

void guest_heap_unlock(void)
{
	if (--heap_locked)
		guest_panic("malloc gives back a lock that it does not have");
}

long call(long (*function)(long, long, long, long), long a, long b, long c, long d)
{
	panic_text[0] = 0;
	heap_locked = 0;
	return setjmp(on_panic) ? 0 : function(a, b, c, d);
}
"""


@pytest.fixture(scope="session")
def library_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("libc")

    def run(*command: object) -> None:
        subprocess.run([str(part) for part in command], check=True, cwd=directory)

    assert COMPILER is not None
    # -O3: where gcc looks hardest for loops that it could replace by a call to memcpy.
    flags = ["-O3", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    run(
        *(COMPILER, "-std=gnu11", "-c", *flags, "-ffreestanding", "-fno-stack-protector"),
        *("-fno-strict-aliasing", "-Wno-unused-parameter"),
        *("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"),
        *("-I", GUESTS / "lib/include", "-I", GUESTS / "kernel/include"),
        *sorted((GUESTS / "lib").glob("*.c")),
    )
    run("ld", "-r", "-o", "all.o", *sorted(path.name for path in directory.glob("*.o")))
    run("objcopy", "--prefix-symbols=guest_", "all.o")
    (directory / "driver.c").write_text(DRIVER)
    run(COMPILER, *flags, "-shared", "-Wl,-z,defs", "-o", "libguest.so", "driver.c", "all.o")
    return directory / "libguest.so"


class Guest:
    """The library in this process; ``guest.name(...)`` calls guest_name."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._call = self._library.call
        self._call.restype = ctypes.c_long
        self.panic_text = ""

    def function(self, name: str, restype: Any = ctypes.c_int) -> Any:
        function = self._library[f"guest_{name}"]
        function.restype = restype
        return function

    def __getattr__(self, name: str) -> Any:
        return self.function(name)

    def call(self, name: str, *arguments: int) -> int:
        """Call with up to four integers; a panic ends the call and is in panic_text."""
        padded = [*arguments, 0, 0, 0, 0][:4]
        function = ctypes.cast(self._library[f"guest_{name}"], ctypes.c_void_p)
        result: int = self._call(function, *(ctypes.c_long(value) for value in padded))
        self.panic_text = ctypes.string_at(self._library.panic_text).decode()
        return result

    def malloc(self, size: int) -> int:
        return self.call("malloc", size)

    def free(self, area: int) -> None:
        self.call("free", area)

    def variable(self, name: str) -> ctypes.c_size_t:
        return ctypes.c_size_t.in_dll(self._library, name)

    def console(self) -> bytes:
        used = self.variable("console_used")
        text = ctypes.string_at(self._library.console, used.value)
        used.value = 0
        return text


@pytest.fixture(scope="session")
def guest(library_path: Path) -> Guest:
    return Guest(library_path)


@pytest.fixture
def fresh(library_path: Path, tmp_path: Path) -> Guest:
    """A library with a heap of its own, which a test may ruin."""
    return Guest(Path(shutil.copy(library_path, tmp_path)))


# --- printf ---------------------------------------------------------------------------------------


def printed(function: Any, size: int, form: bytes, *arguments: Any) -> tuple[int, bytes]:
    """Return what snprintf returned and all bytes of a buffer that is larger than size."""
    buffer = ctypes.create_string_buffer(b"\xee" * (size + 8))
    result = function(buffer, ctypes.c_size_t(size), form, *arguments)
    return result, buffer.raw


LENGTHS = {
    b"": ctypes.c_int,
    b"hh": ctypes.c_int,
    b"h": ctypes.c_int,
    b"l": ctypes.c_long,
    b"ll": ctypes.c_longlong,
    b"j": ctypes.c_longlong,
    b"z": ctypes.c_ssize_t,
    b"t": ctypes.c_ssize_t,
}

flags = st.lists(st.sampled_from(b"-+ #0"), max_size=3).map(bytes)
widths = st.one_of(st.just(b""), st.integers(0, 40).map(lambda width: b"%d" % width))
precisions = st.one_of(
    st.just(b""), st.just(b"."), st.integers(0, 40).map(lambda precision: b".%d" % precision)
)
INTERESTING = [0, 1, -1, 7, 8, 127, 128, -128, 255, 2**15, 2**31 - 1, 2**31, 2**63 - 1, -(2**63)]
integers = st.one_of(st.sampled_from(INTERESTING), st.integers(-(2**63), 2**63 - 1))


@st.composite
def integer_directives(draw: st.DrawFn) -> tuple[bytes, Any]:
    length = draw(st.sampled_from(sorted(LENGTHS)))
    conversion = draw(st.sampled_from([b"d", b"i", b"u", b"o", b"x", b"X"]))
    form = b"%" + draw(flags) + draw(widths) + draw(precisions) + length + conversion
    return form, LENGTHS[length](draw(integers))


@pytest.mark.parametrize("length", sorted(LENGTHS))
def test_snprintf_lengths(guest: Guest, length: bytes) -> None:
    for value in INTERESTING:
        argument = LENGTHS[length](value)
        for conversion in (b"d", b"i", b"u", b"o", b"x", b"X"):
            arguments = (40, b"%#" + length + conversion, argument)
            assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@given(integer_directives(), st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_snprintf_integers(guest: Guest, directive: tuple[bytes, Any], size: int) -> None:
    form, value = directive
    text = b"<" + form + b">"
    assert printed(guest.snprintf, size, text, value) == printed(HOST.snprintf, size, text, value)


@given(st.sampled_from([b"", b"-"]), widths, precisions, st.binary(max_size=50), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_snprintf_strings(
    guest: Guest, flag: bytes, width: bytes, precision: bytes, text: bytes, size: int
) -> None:
    form = b"%" + flag + width + precision + b"s|%c%%"
    text = text.replace(b"\0", b"")
    arguments = (size, form, text, ctypes.c_int(0x141))
    assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@given(st.integers(-40, 40), st.integers(-3, 40), integers)
@settings(max_examples=200, deadline=None)
def test_snprintf_stars(guest: Guest, width: int, precision: int, value: int) -> None:
    arguments = (100, b"%*.*ld", ctypes.c_int(width), ctypes.c_int(precision), ctypes.c_long(value))
    assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@pytest.mark.parametrize(
    ("form", "arguments", "expected"),
    [
        (b"", (), b""),
        (b"%", (), b"%"),
        (b"%%%5%", (), b"%%"),
        (b"%p", (ctypes.c_void_p(0),), b"0x0"),
        (b"%14p|%-8p|", (ctypes.c_void_p(0x1F40), ctypes.c_void_p(1)), b"        0x1f40|0x1     |"),
        (b"%s %.3s", (ctypes.c_char_p(None), ctypes.c_char_p(None)), b"(null) (nu"),
        # What is not known is printed and takes nothing.
        (b"%n%d", (ctypes.c_int(5),), b"%n5"),
        (b"%5.1f %d", (ctypes.c_int(5),), b"%5.1f 5"),
        (b"%-", (), b"%-"),
        (b"%l", (), b"%l"),
        # Arguments beyond those in registers.
        (b"%d" * 9, tuple(ctypes.c_int(i) for i in range(9)), b"012345678"),
    ],
)
def test_snprintf_own_rules(
    guest: Guest, form: bytes, arguments: tuple[Any, ...], expected: bytes
) -> None:
    result, buffer = printed(guest.snprintf, 64, form, *arguments)
    assert (result, buffer[: result + 1]) == (len(expected), expected + b"\0")


def test_snprintf_only_counts_without_a_buffer(guest: Guest) -> None:
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%d bottles", 99) == 10


def test_snprintf_enormous_width(guest: Guest) -> None:
    """A length that an int cannot hold is an error, and the buffer holds what fits."""
    result, buffer = printed(guest.snprintf, 8, b"%2147483647d%d", 1, 1)
    assert (result, buffer[:8]) == (-1, b" " * 7 + b"\0")
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%99999999999999999999d", 1) > 0
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%*d", ctypes.c_int(-(2**31)), 1) == 2**31 - 1


def test_sprintf(guest: Guest) -> None:
    buffer = ctypes.create_string_buffer(20)
    assert guest.sprintf(buffer, b"%s-%d", b"left", 3) == 6
    assert buffer.value == b"left-3"


@given(st.lists(st.binary(max_size=300), max_size=4))
@settings(max_examples=100, deadline=None)
def test_printf_writes_everything_in_bounded_pieces(guest: Guest, texts: list[bytes]) -> None:
    texts = [text.replace(b"\0", b"") for text in texts]
    for text in texts:
        assert guest.printf(b"[%s]", text) == len(text) + 2
    assert guest.console() == b"".join(b"[%s]" % text for text in texts)
    assert guest.variable("console_largest_write").value <= 128


def test_puts_and_putchar(guest: Guest) -> None:
    guest.puts(b"line")
    assert guest.putchar(ord("x")) == ord("x")
    assert guest.console() == b"line\nx"


# --- string.h -------------------------------------------------------------------------------------


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


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


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


# --- stdlib.h and ctype.h -------------------------------------------------------------------------

numbers = st.one_of(
    st.text(alphabet=" \t+-0123456789xXaAfFgGzZ", max_size=24),
    st.integers(-(2**65), 2**65).map(str),
    st.integers(-(2**65), 2**65).map(hex),
)


@given(numbers, st.sampled_from([0, 2, 8, 10, 16, 36]))
@settings(max_examples=300, deadline=None)
def test_strtol_family(guest: Guest, text: str, base: int) -> None:
    string = ctypes.create_string_buffer(text.encode())
    for name in ("strtol", "strtoul", "strtoll", "strtoull"):
        results = []
        for function in (guest.function(name, ctypes.c_longlong), HOST[name]):
            function.restype = ctypes.c_longlong
            end = ctypes.c_void_p()
            value = function(string, ctypes.byref(end), base)
            results.append((value, end.value))
        assert results[0] == results[1], name


@pytest.mark.parametrize("text", ["0x", "0xg", "-0X", "+", " - 1", "08", "0x0x1", ""])
def test_strtol_prefix_without_digits(guest: Guest, text: str) -> None:
    string = ctypes.create_string_buffer(text.encode())
    for base in (0, 16):
        results = []
        for function in (guest.strtol, HOST.strtol):
            end = ctypes.c_void_p()
            results.append((function(string, ctypes.byref(end), base), end.value))
        assert results[0] == results[1]


def test_atoi_and_abs(guest: Guest) -> None:
    assert guest.atoi(b"  -42 bottles") == -42
    assert [guest.abs(value) for value in (-3, 0, 3)] == [3, 0, 3]
    assert guest.function("llabs", ctypes.c_longlong)(ctypes.c_longlong(-(2**40))) == 2**40


@pytest.mark.parametrize(
    "name",
    [
        *("alnum", "alpha", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "xdigit"),
    ],
)
def test_ctype(guest: Guest, name: str) -> None:
    for character in range(-1, 256):
        ours, host = guest.function(f"is{name}"), HOST[f"is{name}"]
        assert bool(ours(character)) == bool(host(character)), character


def test_ctype_case(guest: Guest) -> None:
    for character in range(-1, 256):
        assert guest.tolower(character) == HOST.tolower(character)
        assert guest.toupper(character) == HOST.toupper(character)


def xorshift(state: int) -> Iterator[int]:
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state & 0x7FFFFFFF


@pytest.mark.parametrize("seed", [0, 1, 20, 0xFFFFFFFF])
def test_rand_is_the_same_everywhere(guest: Guest, seed: int) -> None:
    guest.srand(ctypes.c_uint(seed))
    expected = xorshift(seed or 1)
    assert [guest.rand() for _ in range(20)] == [next(expected) for _ in range(20)]


def test_abort_and_assert_panic(fresh: Guest) -> None:
    fresh.call("abort")
    assert fresh.panic_text.startswith("abort() called from 0x")
    texts = [ctypes.create_string_buffer(text) for text in (b"a < b", b"x.c", b"f")]
    condition, file, function = (ctypes.addressof(text) for text in texts)
    fresh.call("__assert_fail", condition, file, 7, function)
    assert fresh.panic_text == "x.c:7: f: assertion failed: a < b"


# --- qsort and bsearch ----------------------------------------------------------------------------

Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def sort_integers(
    guest: Guest, values: list[int], compare: Callable[[int, int], int]
) -> tuple[list[int], int]:
    """Return the sorted array and how many comparisons it took."""
    array = (ctypes.c_int * (len(values) or 1))(*values)
    count = 0

    @Compare
    def callback(left: Any, right: Any) -> int:
        nonlocal count
        count += 1
        return compare(left[0], right[0])

    guest.qsort(array, ctypes.c_size_t(len(values)), ctypes.c_size_t(4), callback)
    return list(array)[: len(values)], count


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(-(2**31), 2**31 - 1)), max_size=80))
@settings(max_examples=200, deadline=None)
def test_qsort(guest: Guest, values: list[int]) -> None:
    assert sort_integers(guest, values, lambda a, b: sign(a - b))[0] == sorted(values)


def test_qsort_against_an_adversary(guest: Guest) -> None:
    """McIlroy's adversary decides the values late, so that any quicksort becomes quadratic."""
    size = 500
    undecided = size
    values = [undecided] * size
    decided = 0
    candidate = 0

    def freeze(item: int) -> None:
        nonlocal decided
        values[item] = decided
        decided += 1

    def compare(left: int, right: int) -> int:
        nonlocal candidate
        if values[left] == values[right] == undecided:
            freeze(left if left == candidate else right)
        if values[left] == undecided:
            candidate = left
        elif values[right] == undecided:
            candidate = right
        return sign(values[left] - values[right])

    result, count = sort_integers(guest, list(range(size)), compare)
    assert [values[item] for item in result] == sorted(values)
    assert count <= 2 * size * math.log2(size)


@pytest.mark.parametrize("element", [1, 3, 8, 24])
def test_qsort_element_sizes(guest: Guest, element: int) -> None:
    items = [bytes([i * 37 % 101]) * element for i in range(101)]
    array = ctypes.create_string_buffer(b"".join(items), 101 * element)
    byte = ctypes.POINTER(ctypes.c_ubyte)
    callback = ctypes.CFUNCTYPE(ctypes.c_int, byte, byte)(lambda a, b: sign(a[0] - b[0]))
    guest.qsort(array, ctypes.c_size_t(101), ctypes.c_size_t(element), callback)
    assert array.raw == b"".join(sorted(items))


@given(st.lists(st.integers(-50, 50), max_size=30, unique=True), st.integers(-50, 50))
@settings(max_examples=200, deadline=None)
def test_bsearch(guest: Guest, values: list[int], wanted: int) -> None:
    values.sort()
    array = (ctypes.c_int * (len(values) or 1))(*values)
    key = ctypes.c_int(wanted)
    callback = Compare(lambda a, b: sign(a[0] - b[0]))
    found = guest.function("bsearch", ctypes.c_void_p)(
        ctypes.byref(key), array, ctypes.c_size_t(len(values)), ctypes.c_size_t(4), callback
    )
    expected = ctypes.addressof(array) + 4 * values.index(wanted) if wanted in values else None
    assert found == expected


# --- malloc ---------------------------------------------------------------------------------------

operations = st.lists(
    st.tuples(
        st.sampled_from(["malloc", "malloc", "calloc", "realloc", "free"]),
        st.one_of(st.integers(0, 100), st.integers(0, 20000)),
        st.integers(0, 1000),
    ),
    max_size=60,
)


def fill(area: int, size: int, number: int) -> bytes:
    content = bytes((number + i) & 0xFF for i in range(size))
    ctypes.memmove(area, content, size)
    return content


@given(operations)
@settings(max_examples=100, deadline=None)
def test_malloc_random(guest: Guest, steps: list[tuple[str, int, int]]) -> None:
    """Areas are aligned, apart and keep their bytes; when all are freed the heap is whole again."""
    areas: dict[int, bytes] = {}
    for number, (operation, size, pick) in enumerate(steps):
        victim = sorted(areas)[pick % len(areas)] if areas else 0
        if operation == "free":
            guest.free(victim)
            areas.pop(victim, None)
            area = 0
        elif operation == "realloc":
            area = guest.call("realloc", victim, size)
            if area:
                old = areas.pop(victim, b"")
                common = min(size, len(old))
                assert ctypes.string_at(area, common) == old[:common]
        elif operation == "calloc":
            area = guest.call("calloc", size, 1)
            assert not area or ctypes.string_at(area, size) == bytes(size)
        else:
            area = guest.malloc(size)
        assert guest.panic_text == ""
        if area:
            assert area % 16 == 0
            areas[area] = fill(area, size, number)
        assert guest.function("malloc_check", ctypes.c_size_t)() == sum(map(len, areas.values()))
        for start, content in areas.items():
            assert ctypes.string_at(start, len(content)) == content
    for area in areas:
        guest.free(area)
    whole = guest.malloc(HEAP_SIZE - 2 * 32 - 1)
    assert whole
    guest.free(whole)


def test_malloc_limits(fresh: Guest) -> None:
    huge = ctypes.c_long(-1).value
    assert fresh.malloc(HEAP_SIZE) == 0
    assert fresh.malloc(huge) == 0
    assert fresh.malloc(2**63 - 8) == 0
    assert fresh.call("calloc", 2**33, 2**33) == 0
    area = fresh.malloc(10)
    assert fresh.call("realloc", area, huge) == 0
    assert fresh.malloc_check() == 10
    assert fresh.malloc(0) != fresh.malloc(0)
    fresh.free(0)
    assert fresh.panic_text == ""


def test_realloc_grows_in_place(fresh: Guest) -> None:
    area = fresh.malloc(100)
    assert fresh.call("realloc", area, 5000) == area
    assert fresh.call("realloc", area, 10) == area
    assert fresh.malloc(4000) - area < 100


def poke(address: int, value: int = 0x41) -> None:
    ctypes.c_ubyte.from_address(address).value = value


def double_free(guest: Guest, area: int) -> None:
    guest.free(area)
    guest.free(area)


def double_free_joined(guest: Guest, area: int) -> None:
    """The second block disappears into the first and is freed again."""
    second = guest.malloc(50)
    guest.free(area)
    guest.free(second)
    guest.free(second)


def free_inside(guest: Guest, area: int) -> None:
    guest.free(area + 16)


def free_unaligned(guest: Guest, area: int) -> None:
    guest.free(area + 1)


def free_stack(guest: Guest, area: int) -> None:
    guest.free(ctypes.addressof(ctypes.create_string_buffer(16)))


def write_behind(guest: Guest, area: int) -> None:
    poke(area + 40)
    guest.free(area)


def write_far_behind(guest: Guest, area: int) -> None:
    for offset in range(48, 64):
        poke(area + offset)
    guest.free(area)


def write_before(guest: Guest, area: int) -> None:
    for offset in range(1, 33):
        poke(area - offset)
    guest.free(area)


def write_after_free(guest: Guest, area: int) -> None:
    guest.free(area)
    for offset in range(16):
        poke(area + offset)
    guest.malloc(40)


def realloc_freed(guest: Guest, area: int) -> None:
    guest.free(area)
    guest.call("realloc", area, 80)


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (double_free, "double free of 0x"),
        (double_free_joined, "double free of 0x"),
        (free_inside, "did not come from malloc"),
        (free_unaligned, "did not come from malloc"),
        (free_stack, "did not come from malloc"),
        (write_behind, "written behind the 40 bytes at 0x"),
        (write_far_behind, "block behind it was overwritten"),
        (write_before, "header was overwritten"),
        (write_after_free, "was written to"),
        (realloc_freed, "double free of 0x"),
    ],
)
def test_malloc_mistakes_panic(
    fresh: Guest, mistake: Callable[[Guest, int], None], text: str
) -> None:
    area = fresh.malloc(40)
    mistake(fresh, area)
    assert fresh.panic_text.startswith("malloc: ")
    assert text in fresh.panic_text


def test_malloc_check_finds_damage(fresh: Guest) -> None:
    area = fresh.malloc(40)
    poke(area + 41)
    fresh.call("malloc_check")
    assert "written behind" in fresh.panic_text


# --- What gcc calls by itself ---------------------------------------------------------------------

SIGNED, UNSIGNED, WORD = ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint32
longs = st.one_of(
    st.integers(0, 2**64 - 1), st.integers(0, 2**32), st.integers(0, 63).map(lambda bit: 1 << bit)
)


def signed(value: int) -> int:
    return SIGNED(value).value


@given(longs, longs.filter(bool))
@settings(max_examples=300, deadline=None)
def test_libgcc_division(guest: Guest, dividend: int, divisor: int) -> None:
    call = functools.partial(guest.function, restype=UNSIGNED)
    assert call("__udivdi3")(UNSIGNED(dividend), UNSIGNED(divisor)) == dividend // divisor
    assert call("__umoddi3")(UNSIGNED(dividend), UNSIGNED(divisor)) == dividend % divisor
    a, b = signed(dividend), signed(divisor)
    if (a, b) != (-(2**63), -1):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        call = functools.partial(guest.function, restype=SIGNED)
        assert call("__divdi3")(SIGNED(a), SIGNED(b)) == quotient
        assert call("__moddi3")(SIGNED(a), SIGNED(b)) == a - quotient * b


@given(longs, st.integers(0, 63))
@settings(max_examples=300, deadline=None)
def test_libgcc_shifts(guest: Guest, value: int, count: int) -> None:
    call = functools.partial(guest.function, restype=UNSIGNED)
    assert call("__ashldi3")(UNSIGNED(value), count) == value << count & 2**64 - 1
    assert call("__lshrdi3")(UNSIGNED(value), count) == value >> count
    assert guest.function("__ashrdi3", SIGNED)(SIGNED(value), count) == signed(value) >> count


@given(longs, longs)
@settings(max_examples=300, deadline=None)
def test_libgcc_comparison(guest: Guest, left: int, right: int) -> None:
    assert guest.function("__ucmpdi2")(UNSIGNED(left), UNSIGNED(right)) == 1 + sign(left - right)
    expected = 1 + sign(signed(left) - signed(right))
    assert guest.function("__cmpdi2")(SIGNED(left), SIGNED(right)) == expected


@given(longs)
@settings(max_examples=300, deadline=None)
def test_libgcc_bits(guest: Guest, value: int) -> None:
    word = value & 0xFFFFFFFF
    assert guest.function("__popcountdi2")(UNSIGNED(value)) == value.bit_count()
    assert guest.function("__popcountsi2")(WORD(word)) == word.bit_count()
    trailing = (value & -value).bit_length()
    assert guest.function("__ffsdi2")(UNSIGNED(value)) == trailing
    if value:
        assert guest.function("__clzdi2")(UNSIGNED(value)) == 64 - value.bit_length()
        assert guest.function("__ctzdi2")(UNSIGNED(value)) == trailing - 1
    swapped = int.from_bytes(value.to_bytes(8, "little"))
    assert guest.function("__bswapdi2", UNSIGNED)(UNSIGNED(value)) == swapped
    assert guest.function("__bswapsi2", WORD)(WORD(word)) == int.from_bytes(
        word.to_bytes(4, "little")
    )
