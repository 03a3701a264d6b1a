# SPDX-License-Identifier: MIT
"""Events other than function calls, in live guests with several threads."""

from pathlib import Path

import pytest

from harness.config import load_config
from harness.errors import UsageError
from harness.tracer import PidList

WORKLOAD = str(Path(__file__).with_name("workloads") / "tracing.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD)

IRQS_OFF, NEED_RESCHED, HARDIRQ = 1, 0x24, 8

THREADS = {"workload": 1, "first": 2, "second": 3}


def named(guest, name):
    return [event for event in guest.tracer.events() if event.name == name]


def finish(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def test_threads_say_what_they_print(config, guest):
    finish(guest)
    prints = named(guest, "print")
    assert {(event.comm, event.pid) for event in prints} == set(THREADS.items())
    for pid in THREADS.values():
        own = [event.message for event in prints if event.pid == pid]
        assert own == [f"speak: round {i}" for i in range(3)]


def test_every_switch_goes_on_where_the_last_one_went(config, guest):
    guest.tracer.set_event("sched_switch")
    finish(guest)
    last = {}
    for event in guest.tracer.events():
        if event.name == "sched_switch":
            assert last.get(event.cpu, event.fields["prev_pid"]) == event.fields["prev_pid"]
            assert event.pid == event.fields["prev_pid"]
            last[event.cpu] = event.fields["next_pid"]
        elif event.cpu in last:
            assert event.pid == last[event.cpu]
    names = {
        event.fields[f"{side}_comm"]: event.fields[f"{side}_pid"]
        for event in named(guest, "sched_switch")
        for side in ("prev", "next")
    }
    threads = {name: pid for name, pid in names.items() if pid}
    if load_config(config).qemu.smp > 1:
        # The first thread may keep its CPU from beginning to end.
        threads |= {"workload": THREADS["workload"]}
    assert threads == THREADS
    ended = {event.pid for event in named(guest, "sched_switch") if event.prev_state == "Z"}
    assert ended == {2, 3}


def test_events_are_off_until_they_are_switched_on(config, guest):
    finish(guest)
    assert not named(guest, "sched_switch")
    assert guest.tracer.enabled_events == []


def test_functions_of_each_thread_carry_its_name(config, guest):
    guest.tracer.set_filter("leaf", "middle")
    guest.tracer.current = "function"
    finish(guest)
    calls = named(guest, "function")
    for name, pid in THREADS.items():
        own = [event.function for event in calls if event.pid == pid]
        assert own == ["middle", "leaf", "leaf"] * 3
        assert {event.comm for event in calls if event.pid == pid} == {name}


def test_calls_nest_in_each_thread(config, guest):
    guest.tracer.set_filter("leaf", "middle", "speak", "thread_yield")
    guest.tracer.current = "function_graph"
    finish(guest)
    depth = dict.fromkeys(THREADS.values(), 0)
    for event in guest.tracer.events():
        if event.name == "funcgraph_entry":
            assert event.depth == depth[event.pid]
            depth[event.pid] += 1
        elif event.name == "funcgraph_exit":
            depth[event.pid] -= 1
            assert event.depth == depth[event.pid]
    assert set(depth.values()) == {0}


def test_set_event_takes_the_forms_of_tracefs(config, guest):
    tracer = guest.tracer
    assert "sched:sched_switch" in tracer.available_events
    for pattern in ("sched_switch", "sched", "sched:", "sched:*", "*:sched_*"):
        tracer.set_event(pattern)
        assert tracer.enabled_events == ["sched:sched_switch"]
    tracer.set_event("!sched:sched_switch", append=True)
    assert tracer.enabled_events == []
    with pytest.raises(UsageError, match="no event 'sched_witch'"):
        tracer.set_event("sched_witch")


def test_only_the_chosen_threads_are_traced(config, guest):
    guest.tracer.set_filter("leaf")
    guest.tracer.set_ftrace_pid(1, 3)
    guest.tracer.set_event_pid(2)
    guest.tracer.current = "function"
    finish(guest)
    assert {event.pid for event in named(guest, "function")} == {1, 3}
    assert {event.pid for event in named(guest, "print")} == {2}


def test_threads_of_the_notrace_lists_are_left_out(config, guest):
    tracer = guest.tracer
    tracer.set_filter("leaf")
    tracer.set_ftrace_pid(1, 2)
    tracer.set_pids(PidList.FTRACE_NOTRACE, [2])
    tracer.set_pids(PidList.EVENT_NOTRACE, [1, 3])
    tracer.current = "function"
    finish(guest)
    assert {event.pid for event in named(guest, "function")} == {1}
    assert {event.pid for event in named(guest, "print")} == {2}


def test_a_thread_that_runs_already_is_left_out(config, guest):
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function"
    guest.tracer.set_ftrace_pid(2)
    finish(guest)
    assert {event.pid for event in named(guest, "function")} == {2}
    guest.tracer.set_ftrace_pid()


@pytest.mark.guest(workload="threads", tick=1000)
def test_events_say_in_what_state_the_cpu_was(config, guest):
    guest.tracer.set_event("sched_switch")
    guest.tracer.set_filter("*sched*", "tick_interrupt", "switch_thread")
    guest.tracer.current = "function"
    finish(guest)
    events = list(guest.tracer.events())
    in_interrupts = [event for event in events if event.flags & HARDIRQ]
    # A tick that finds another thread waiting wants the CPU back when it is over.
    assert any(event.flags & NEED_RESCHED == NEED_RESCHED for event in in_interrupts)
    assert all(event.flags & IRQS_OFF for event in in_interrupts)
    assert any(event.context.endswith("dNh..") for event in in_interrupts)
    preempted = [event for event in events if getattr(event, "prev_state", "") == "R+"]
    assert preempted
    assert not any(event.flags & HARDIRQ for event in events if event.name == "sched_switch")
