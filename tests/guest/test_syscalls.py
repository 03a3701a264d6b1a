# SPDX-License-Identifier: MIT
"""Events of the system calls of a program in user mode, guests/user/calls.c."""

from pathlib import Path

import pytest

WORKLOAD = str(Path(__file__).with_name("workloads") / "user.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD)

ENOSYS, ENOMEM, EINVAL, EBADF, EFAULT = -38, -12, -22, -9, -14


def recorded(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    return list(guest.tracer.events())


def numbers(guest):
    return {call.name: call.number for call in guest.tracer.event_control.syscalls}


def test_every_call_is_entered_and_left(config, guest):
    guest.tracer.set_event("raw_syscalls")
    events = recorded(guest)
    number = numbers(guest)
    assert len({event.pid for event in events}) == 1
    assert {event.comm for event in events} == {"calls"}
    # exit does not come back.
    assert events[-1].name == "sys_enter"
    assert events[-1].fields["id"] == number["exit"]
    assert events[-1].fields["args"][0] == 42
    pairs = list(zip(events[0:-1:2], events[1::2], strict=True))
    for enter, leave in pairs:
        assert (enter.name, leave.name) == ("sys_enter", "sys_exit")
        assert enter.fields["id"] == leave.fields["id"]
    results = [
        leave.fields["ret"] for enter, leave in pairs if enter.fields["id"] == number["mmap"]
    ]
    assert results == [ENOMEM, EINVAL, EBADF]


def test_all_six_arguments_are_those_of_the_program(config, guest):
    guest.tracer.set_event("sys_enter")
    mask = guest.image.isa.mask
    number = numbers(guest)["mmap"]
    given = [event.fields["args"] for event in recorded(guest) if event.fields["id"] == number]
    assert given[0] == (0x10000, 0x2000, 3, 0x22, mask, 0)
    assert given[1] == (0x10001, 0x2000, 3, 0x22, mask, 0)
    assert given[2] == (0x10000, 0x2000, 3, 0x22, 5, 0)


def test_a_single_call_has_names_for_its_arguments(config, guest):
    guest.tracer.set_event("syscalls:sys_enter_write", "syscalls:sys_exit_write")
    events = recorded(guest)
    enters = [event for event in events if event.name == "sys_enter_write"]
    leaves = [event for event in events if event.name == "sys_exit_write"]
    assert len(enters) + len(leaves) == len(events)
    assert [list(event.arguments) for event in enters] == [["fd", "buf", "count"]] * 5
    assert [event.fields["fd"] for event in enters] == [1, 2, 0, 1, 1]
    assert enters[3].message == "sys_write(fd: 1, buf: 8, count: 1)"
    assert [event.fields["ret"] for event in leaves] == [28, 0, EBADF, EFAULT, EFAULT]
    assert leaves[0].message == "sys_write -> 0x1c"


def test_numbers_outside_the_table_have_no_event_of_their_own(config, guest):
    guest.tracer.set_event("syscalls", "raw_syscalls")
    events = recorded(guest)
    known = set(numbers(guest).values())
    unknown = [
        event for event in events if event.name == "sys_exit" and event.fields["id"] not in known
    ]
    assert [event.fields["ret"] for event in unknown] == [ENOSYS] * 4
    for event in events:
        if event.name.startswith("sys_enter_"):
            name = event.name.removeprefix("sys_enter_")
            assert event.fields["__syscall_nr"] == numbers(guest)[name]


def test_only_threads_with_the_flag_are_traced(config, guest):
    guest.tracer.set_event("raw_syscalls")
    # The program's thread begins with the flag; it is taken away at its first call.
    guest.run(until="trace_sys_enter")
    guest.tracer._threads.set_syscall_tracepoint(False)
    (event,) = recorded(guest)
    assert event.name == "sys_enter"


def test_the_flag_goes_with_the_last_event(config, guest):
    guest.tracer.set_event("syscalls:sys_enter_write")
    guest.tracer.set_event()
    assert recorded(guest) == []
    assert not any(thread.flags & 0x100 for thread in guest.threads())


def test_every_call_is_matched_with_its_number_and_name(config, guest):
    calls = guest.tracer.event_control.syscalls
    assert {"write", "exit", "getpid", "gettid", "mmap", "nanosleep"} <= {c.name for c in calls}
    address = guest.address_of("arch_syscall_addr")
    for call in calls:
        function = guest.debugger.call(address, call.number, returns="unsigned long")
        name = guest.image.symbolize(function)
        assert name.endswith(f"sys_{call.name}")
