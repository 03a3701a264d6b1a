# SPDX-License-Identifier: MIT
"""What a guest says of its system calls, and the formats that follow from it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.trace import parse_syscalls

SIZE = 248


def entry(name, arguments, number=3, count=None, order="<"):
    found = arguments.count(",") + 1 if arguments not in ("()", "") else 0
    fixed = struct.pack(
        f"{order}32s40s160siI",
        name.encode(),
        b"__x_" + name.encode(),
        arguments.encode(),
        number,
        found if count is None else count,
    )
    return fixed.ljust(SIZE, b"\xee")


def one(*arguments, **options):
    (call,) = parse_syscalls(entry(*arguments, **options), 1, SIZE, "little")
    return call


def test_names_and_types():
    call = one("sys_write", "(unsigned int fd, const char * buf, size_t count)")
    assert (call.name, call.number) == ("write", 3)
    assert call.arguments == (
        ("unsigned int", "fd"),
        ("const char *", "buf"),
        ("size_t", "count"),
    )
    assert one("sys_getpid", "()").arguments == ()


def test_either_byte_order_and_several():
    data = entry("sys_a", "()", 5, order=">") + entry("sys_b", "(int x)", -1, order=">")
    first, second = parse_syscalls(data, 2, SIZE, "big")
    assert (first.index, first.number, second.index, second.number) == (0, 5, 1, -1)


@pytest.mark.parametrize(("long_size", "places"), [(4, [12, 16]), (8, [16, 24])])
def test_every_argument_is_a_long(long_size, places):
    enter, leave = one("sys_kill", "(int pid, int sig)").formats(long_size)
    assert (enter.name, enter.system, enter.id) == ("sys_enter_kill", "syscalls", 64)
    assert (leave.name, leave.system, leave.id) == ("sys_exit_kill", "syscalls", 65)
    own = [field for field in enter.fields if not field.name.startswith("common_")]
    assert [(field.declaration, field.offset, field.size) for field in own] == [
        ("int __syscall_nr", 8, 4),
        ("int pid", places[0], long_size),
        ("int sig", places[1], long_size),
    ]
    width = 2 * long_size
    assert enter.print_fmt == (
        f'"pid: 0x%0{width}lx, sig: 0x%0{width}lx", '
        "((unsigned long)(REC->pid)), ((unsigned long)(REC->sig))"
    )
    assert leave.print_fmt == '"0x%lx", REC->ret'
    assert leave.fields[-1].offset == places[0]


@pytest.mark.parametrize(
    "wrong",
    [
        entry("write", "()"),
        entry("sys_wr ite", "()"),
        entry("sys_\x1b[m", "()"),
        entry("sys_write", "(int fd)", count=2),
        entry("sys_write", "(fd)"),
        entry("sys_write", "(int fd; evil)"),
        entry("sys_write", "(int a, int b, int c, int d, int e, int f, int g)"),
    ],
)
def test_what_cannot_be_right_is_refused(wrong):
    with pytest.raises(FormatError):
        parse_syscalls(wrong, 1, SIZE, "little")


def test_too_little_memory_is_noticed():
    with pytest.raises(FormatError, match="do not lie in"):
        parse_syscalls(entry("sys_a", "()"), 2, SIZE, "little")
    with pytest.raises(FormatError, match="16 bytes"):
        parse_syscalls(bytes(64), 4, 16, "little")


@given(st.binary(min_size=SIZE, max_size=SIZE))
def test_garbage(data):
    try:
        (call,) = parse_syscalls(data, 1, SIZE, "little")
    except FormatError:
        return
    assert call.name.isidentifier()
