# SPDX-License-Identifier: MIT
"""Filters of events: the guest records what matches, by the same rules as a kernel."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from tests.support.configs import others

CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt", *others()]

WORKLOAD = str(Path(__file__).with_name("workloads") / "switches.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD)

SWITCH = "sched_switch"

COUNT, TURNS = 36, 6

FILTERS = {
    "prev_pid == 1": lambda of: of["prev_pid"] == 1,
    "prev_pid == 0x1": lambda of: of["prev_pid"] == 1,
    "prev_pid==01": lambda of: of["prev_pid"] == 1,
    "prev_pid != -1": lambda of: of["prev_pid"] != -1,
    "prev_pid == 0xffffffff": lambda of: of["prev_pid"] == -1,
    "next_pid > 1": lambda of: of["next_pid"] > 1,
    "next_pid > -2": lambda of: True,
    "next_pid >= 2 && prev_pid < 3": lambda of: of["next_pid"] >= 2 and of["prev_pid"] < 3,
    "prev_pid <= 1": lambda of: of["prev_pid"] <= 1,
    "next_prio < -1": lambda of: False,
    "prev_state & 0x21": lambda of: of["prev_state"] & 0x21,
    "prev_state == 0 || prev_state == 32": lambda of: of["prev_state"] in (0, 32),
    'prev_comm == "first"': lambda of: of["prev_comm"] == "first",
    "prev_comm == 'firs'": lambda of: of["prev_comm"] == "firs",
    "prev_comm == 'first1'": lambda of: False,
    "prev_comm == ''": lambda of: of["prev_comm"] == "",
    "next_comm != 'first'": lambda of: of["next_comm"] != "first",
    "next_comm ~ 'f*t'": lambda of: of["next_comm"] == "first",
    "next_comm ~ 'fi*'": lambda of: of["next_comm"][:2] == "fi",
    "next_comm ~ '*e*e*'": lambda of: of["next_comm"].count("e") > 1,
    "next_comm ~ '*[m-o]?'": lambda of: of["next_comm"] == "second",
    "next_comm ~ '[!f]*'": lambda of: of["next_comm"] in ("second", "a [b] c"),
    "next_comm ~ '*[[]b]*'": lambda of: of["next_comm"] == "a [b] c",
    "next_comm ~ 'secon'": lambda of: False,
    "next_comm ~ '*'": lambda of: True,
    "!(prev_pid == 1) || next_pid == 3": lambda of: of["prev_pid"] != 1 or of["next_pid"] == 3,
    "!(prev_pid == 1 || next_pid == 1)": lambda of: 1 not in (of["prev_pid"], of["next_pid"]),
    "prev_pid == 1 || prev_pid == 2 && next_pid == 3": lambda of: (
        of["prev_pid"] == 1 or (of["prev_pid"] == 2 and of["next_pid"] == 3)
    ),
    "(prev_pid == 1 || prev_pid == 2) && next_pid == 3": lambda of: (
        of["prev_pid"] in (1, 2) and of["next_pid"] == 3
    ),
    "common_pid == 1": lambda of: True,
    "common_type != 32": lambda of: False,
    "comm == 'workload'": lambda of: True,
    "COMM ~ 'first'": lambda of: False,
    "CPU == 0": lambda of: True,
    "cpu != 0": lambda of: False,
}


def form_of(guest, name):
    return next(form for form in guest.tracer.formats if form.name == name)


def switches(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    return [dict(event.fields) for event in guest.tracer.events() if event.name == SWITCH]


def test_what_is_recorded_is_what_matches(config, guest):
    tracer, form = guest.tracer, form_of(guest, SWITCH)
    tracer.set_event(SWITCH)
    guest.snapshot("start")
    every = switches(guest)
    assert len(every) == COUNT
    filters = tracer.event_control.filters
    for text, wanted in FILTERS.items():
        guest.restore("start")
        assert filters.text(form) == "none"
        filters.set([form], text)
        assert filters.text(form) == text
        assert switches(guest) == [fields for fields in every if wanted(fields)], text
        prints = [event for event in tracer.events() if event.name == "print"]
        assert len(prints) == TURNS, text
        counts = guest.collector.counts
        assert (counts.entries, counts.dropped) == (len(list(tracer.events())), 0)


def test_a_filter_is_removed_while_the_guest_runs(config, guest):
    tracer, form = guest.tracer, form_of(guest, SWITCH)
    tracer.set_event(SWITCH)
    tracer.set_option("stacktrace")
    tracer.event_control.filters.set([form], "prev_pid == 2")
    guest.run(until="trace_event_commit")
    guest.debugger.step_instruction()
    tracer.event_control.filters.set([form], "0")
    assert tracer.event_control.filters.text(form) == "none"
    # The event that was begun beside the buffer is complete.
    found = switches(guest)
    assert len(found) == COUNT
    assert (found[0]["prev_comm"], found[0]["next_comm"]) == ("first", "first")
    names = [event.name for event in tracer.events()]
    assert names.count("kernel_stack") * 2 == len(names) == 2 * (COUNT + TURNS)


def test_a_rejected_event_has_no_stack_trace(config, guest):
    tracer, form = guest.tracer, form_of(guest, SWITCH)
    tracer.set_event(SWITCH)
    tracer.event_control.filters.set([form], "prev_pid == 2")
    tracer.set_option("stacktrace")
    assert len(switches(guest)) == TURNS
    names = [event.name for event in tracer.events()]
    assert names.count("kernel_stack") == 2 * TURNS
    assert tracer.event_control.filters.text(form) == "prev_pid == 2"


@pytest.mark.guest(workload=str(Path(__file__).with_name("workloads") / "tracing.c"))
def test_threads_that_begin_later_have_the_filters_too(config, guest):
    tracer, form = guest.tracer, form_of(guest, SWITCH)
    tracer.set_event(SWITCH)
    tracer.event_control.filters.set([form], "prev_pid > 1 && prev_pid < 3")
    tracer.set_option("nostacktrace")
    found = switches(guest)
    assert {fields["prev_pid"] for fields in found} == {2}


@pytest.mark.guest(workload="syscalls")
def test_a_filter_of_a_system(config, guest):
    tracer = guest.tracer
    enter, leave = form_of(guest, "sys_enter"), form_of(guest, "sys_exit")
    tracer.set_event("raw_syscalls:")
    guest.snapshot("start")
    guest.run(until="workload_done")
    before = [event for event in tracer.events() if event.name == "sys_exit"]
    guest.restore("start")
    tracer.event_control.filters.set([enter, leave], "ret < 0")
    assert tracer.event_control.filters.text(leave) == "ret < 0"
    assert tracer.event_control.filters.text(enter) == "none"
    guest.run(until="workload_done")
    after = [event for event in tracer.events() if event.name == "sys_exit"]
    failed = [event.fields for event in before if event.fields["ret"] < 0]
    assert [event.fields for event in after] == failed
    assert 0 < len(failed) < len(before)
    entered = [event for event in tracer.events() if event.name == "sys_enter"]
    assert len(entered) >= len(before)
    with pytest.raises(UsageError, match="no field nothing"):
        tracer.event_control.filters.set([enter, leave], "nothing == 0")
    with pytest.raises(UsageError, match="cannot be compared"):
        tracer.event_control.filters.set([enter], "args == 0")
    assert tracer.event_control.filters.text(leave) == "ret < 0"


@pytest.mark.guest(workload="syscalls")
def test_there_is_room_for_a_filter_of_every_system_call(config, guest):
    tracer = guest.tracer
    forms = [form for form in tracer.formats if form.system == "syscalls"]
    tracer.event_control.filters.set(forms, "common_pid >= 1 && common_pid != 0")
    assert {tracer.event_control.filters.text(form) for form in forms} == {
        "common_pid >= 1 && common_pid != 0"
    }
    with pytest.raises(UsageError, match="has room for"):
        tracer.event_control.filters.set(
            forms, " || ".join(f"common_pid == {one}" for one in range(40))
        )
    assert tracer.event_control.filters.text(forms[0]) == "common_pid >= 1 && common_pid != 0"
