# SPDX-License-Identifier: MIT
"""Function triggers, executed in live guests."""

from pathlib import Path

import pytest

from harness.errors import UsageError

WORKLOAD = str(Path(__file__).with_name("workloads") / "plain.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD)


def finish(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def names(guest):
    return [event.function or event.name for event in guest.tracer.events()]


def test_traceoff_is_the_last_that_is_recorded(config, guest):
    guest.tracer.set_filter("leaf", "middle", "speak:traceoff")
    guest.tracer.current = "function"
    finish(guest)
    assert names(guest) == ["middle", "leaf", "leaf"]
    assert not guest.tracer.on


def test_traceon_begins_with_the_function_itself(config, guest):
    guest.tracer.set_filter("leaf", "middle", "leaf:traceon", "middle:traceoff")
    guest.tracer.current = "function"
    guest.tracer.on = False
    finish(guest)
    # The second call of leaf finds tracing on; middle switches it off behind its own event.
    assert names(guest)[:5] == ["leaf", "leaf", "speak", "middle", "leaf"]


def test_a_count_is_used_up_by_what_changes_something(config, guest):
    guest.tracer.set_filter("middle:traceoff:2", "leaf:traceon:1")
    guest.tracer.current = "function"
    finish(guest)
    assert [str(trigger) for trigger in guest.tracer.triggers] == sorted(
        ["middle:traceoff:0", "leaf:traceon:0"],
        key=lambda text: guest.image.symbols[text.partition(":")[0]],
    )
    assert not guest.tracer.on


def test_stacktrace_so_often(config, guest):
    guest.tracer.set_filter("leaf:stacktrace:3")
    finish(guest)
    stacks = [event for event in guest.tracer.events() if event.name == "kernel_stack"]
    assert len(stacks) == 3
    assert [event.functions[:2] for event in stacks] == [("leaf", "middle")] * 3


def test_a_function_with_a_trigger_alone_is_no_event(config, guest):
    guest.tracer.set_filter("leaf", "middle:stacktrace:1")
    guest.tracer.current = "function"
    finish(guest)
    assert set(names(guest)) == {"leaf", "speak", "kernel_stack"}
    assert names(guest).count("kernel_stack") == 1


def test_the_graph_tracer_leaves_it_out_too(config, guest):
    guest.tracer.set_filter("leaf", "middle:stacktrace:1")
    guest.tracer.current = "function_graph"
    finish(guest)
    calls = [event.function for event in guest.tracer.events() if "funcgraph" in event.name]
    assert set(calls) == {"leaf"}
    (stack,) = [event for event in guest.tracer.events() if event.name == "kernel_stack"]
    assert stack.functions[0] == "middle"


def test_a_trigger_that_is_taken_away_leaves_the_text_as_it_was(config, guest):
    where = guest.image.text
    before = guest.debugger.dump_memory(where.start, len(where))
    guest.tracer.set_filter("leaf:traceoff:3")
    assert [str(trigger) for trigger in guest.tracer.triggers] == ["leaf:traceoff:3"]
    assert guest.tracer.enabled_functions == ["leaf"]
    guest.tracer.set_filter("!leaf:traceoff", append=True)
    assert guest.tracer.triggers == []
    assert guest.debugger.dump_memory(where.start, len(where)) == before


@pytest.mark.guest(config="mips-malta", workload=WORKLOAD)
def test_wrong_triggers_are_refused(guest):
    for wrong, why in [
        ("leaf:traceof", "command"),
        ("leaf:traceoff:x", "count"),
        ("laef:traceoff", "no traceable function"),
    ]:
        with pytest.raises(UsageError, match=why):
            guest.tracer.set_filter(wrong)
