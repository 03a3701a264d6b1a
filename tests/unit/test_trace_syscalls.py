# SPDX-License-Identifier: MIT
"""What a guest says of its system calls, and the formats that follow from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.trace import parse_syscall


def one(name, arguments, number=3, count=None):
    found = arguments.count(",") + 1 if arguments not in ("()", "") else 0
    count = found if count is None else count
    return parse_syscall(0, name.encode(), arguments.encode(), number, count)


def test_names_and_types():
    call = one("sys_write", "(unsigned int fd, const char * buf, size_t count)")
    assert (call.name, call.number) == ("write", 3)
    assert call.arguments == (
        ("unsigned int", "fd"),
        ("const char *", "buf"),
        ("size_t", "count"),
    )
    assert one("sys_getpid", "()").arguments == ()


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
        ("write", "()"),
        ("sys_wr ite", "()"),
        ("sys_\x1b[m", "()"),
        ("sys_write", "(int fd)", 3, 2),
        ("sys_write", "(fd)"),
        ("sys_write", "(int fd; evil)"),
        ("sys_write", "(int a, int b, int c, int d, int e, int f, int g)"),
    ],
)
def test_what_cannot_be_right_is_refused(wrong):
    with pytest.raises(FormatError):
        one(*wrong)


@given(st.binary(max_size=40), st.binary(max_size=160), st.integers(0, 1 << 32))
def test_garbage(name, declaration, count):
    try:
        call = parse_syscall(0, name, declaration, 3, count)
    except FormatError:
        return
    assert call.name.isidentifier()
