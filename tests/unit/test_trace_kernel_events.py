# SPDX-License-Identifier: MIT
"""Events that are no function calls: their lines are those of the kernel."""

import io
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.trace import EventFormat, TraceDatReader, event_formats, report_json, report_text
from harness.trace.views.graph import report_graph
from harness.trace.views.latency import report_latency
from ring_encoder import PageEncoder
from trace_files import FORMATS, address, trace_file

IDS = {form.name: form.id for form in event_formats(8)}


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


def payload(form, name, layout, *values):
    """An event by hand: the common fields, then ``layout``, where L is a long."""
    order = ">" if form[0] == "big" else "<"
    common = struct.pack(f"{order}HBBi", IDS[name], 1, 2, 7)
    code = {4: "I", 8: "Q"}[form[1]]
    return common + struct.pack(order + layout.replace("L", code), *values)


def only(form, data, **changes):
    encoder = PageEncoder(*form, stamp=1_000_000)
    encoder.event(0, data, long_form=True)
    stream = io.BytesIO(trace_file(form, [encoder.page()], cmdlines={7: "task"}, **changes))
    (event,) = TraceDatReader(stream).events()
    return event


def pad(form):
    return "4x" if form[1] == 8 else ""


def test_stacks(form):
    callers = [address(name, form[1], 8) for name in ("leaf", "do_work")]
    event = only(form, payload(form, "kernel_stack", f"i{pad(form)}2L", 2, *callers))
    assert event.functions == ("leaf", "do_work")
    assert str(event) == (
        "            task-7       [000] d..2.     0.001000: <stack trace>\n => leaf\n => do_work"
    )


def test_a_stack_ends_at_its_size_and_at_an_address_of_all_ones(form):
    ones = (1 << 8 * form[1]) - 1
    callers = [address("leaf", form[1]), ones, 16]
    event = only(form, payload(form, "kernel_stack", f"i{pad(form)}3L", 3, *callers))
    assert event.functions == ("leaf",)
    event = only(form, payload(form, "kernel_stack", f"i{pad(form)}3L", 0, *callers))
    assert event.functions == ()


def test_a_stack_in_json_has_addresses_and_names(form):
    callers = [address(name, form[1], 8) for name in ("leaf", "do_work")]
    data = payload(form, "kernel_stack", f"i{pad(form)}2L", 2, *callers)
    encoder = PageEncoder(*form, stamp=1)
    encoder.event(0, data, long_form=True)
    reader = TraceDatReader(io.BytesIO(trace_file(form, [encoder.page()])))
    (event,) = json.loads("\n".join(report_json(reader)))["events"]
    assert event["fields"] == {"caller": [f"{address:#x}" for address in callers]}
    assert event["symbols"] == {"caller": ["leaf", "do_work"]}


def test_prints(form):
    where = address("start", form[1])
    event = only(form, payload(form, "print", "L7s", where, b"hello\n\0"))
    assert event.message == "start: hello"
    event = only(form, payload(form, "print", "L8s", where, b"a\nb\x1b[m\0"))
    assert event.message == "start: a\nb\\x1b[m"


FORGED = b"hello\n  workload-1       [000] .....     9.999999: forged <-event\n\0"


@pytest.mark.parametrize("view", [report_text, report_graph, report_latency])
def test_what_a_guest_prints_begins_no_line_of_a_report(form, view):
    encoder = PageEncoder(*form, stamp=1_000_000)
    text = payload(form, "print", f"L{len(FORGED)}s", address("start", form[1]), FORGED)
    encoder.event(0, text, long_form=True)
    switch = (b"a\nb", 7, 120, 0, b"c\nd", 0, 120)
    encoder.event(5, payload(form, "sched_switch", "16siiL16sii", *switch), long_form=True)
    data = trace_file(form, [encoder.page()], cmdlines={7: "task"})
    options = {"tracer": "irqsoff"} if view is report_latency else {}
    shown = list(view(TraceDatReader(io.BytesIO(data)), **options))
    assert not [line for line in shown if "\n" in line]
    (printed,) = [line for line in shown if "forged" in line]
    assert "hello\\n  workload-1" in printed
    (switched,) = [line for line in shown if "sched_switch" in line]
    assert "prev_comm=a\\nb" in switched


@pytest.mark.parametrize(
    ("state", "shown"),
    [(0, "R"), (1, "S"), (2, "D"), (0x20, "Z"), (0x100, "R+"), (0x41, "S|P"), (0x101, "S+")],
)
def test_switches(form, state, shown):
    fields = (b"first", 7, 120, state, b"swapper/1", 0, 120)
    event = only(form, payload(form, "sched_switch", "16siiL16sii", *fields))
    assert event.message == (
        f"sched_switch: prev_comm=first prev_pid=7 prev_prio=120 prev_state={shown} ==> "
        "next_comm=swapper/1 next_pid=0 next_prio=120"
    )


def test_raw_system_calls(form):
    event = only(form, payload(form, "sys_enter", "7L", 64, 1, 0x400630, 28, 0, 0, 5))
    assert event.message == "sys_enter: NR 64 (1, 400630, 1c, 0, 0, 5)"
    minus_two = (1 << 8 * form[1]) - 2
    event = only(form, payload(form, "sys_exit", "2L", 64, minus_two))
    assert event.message == "sys_exit: NR 64 = -2"


def test_a_negative_result_is_printed_as_an_int_by_32_bit_formats():
    texts = {form.name: form.print_fmt for form in event_formats(4)}
    assert "%ld" not in texts["sys_exit"]
    texts = {form.name: form.print_fmt for form in event_formats(8)}
    assert texts["sys_exit"] == '"NR %ld = %ld", REC->id, REC->ret'


FIELDS = ["caller[]", "caller", "args[6]", "buf", "size", "id", "ret", "ip", "prev_state"]
TYPES = ["int", "struct thing", "char", "unsigned long", "__data_loc char[]"]


@given(
    st.sampled_from(
        [
            ("ftrace", "kernel_stack"),
            ("ftrace", "print"),
            ("raw_syscalls", "sys_enter"),
            ("raw_syscalls", "sys_exit"),
            ("syscalls", "sys_enter_x"),
            ("syscalls", "sys_exit_x"),
            ("sched", "sched_switch"),
        ]
    ),
    st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(FIELDS)), max_size=6),
    st.binary(min_size=80, max_size=80),
)
def test_formats_of_strangers_never_break_a_line(event, fields, data):
    system, name = event
    text = f"name: {name}\nID: 99\nformat:\n"
    for declaration, at, size in (
        ("unsigned short common_type", 0, 2),
        ("unsigned char common_flags", 2, 1),
        ("unsigned char common_preempt_count", 3, 1),
        ("int common_pid", 4, 4),
        *((f"{type_name} {field}", 8 + 8 * i, 8) for i, (type_name, field) in enumerate(fields)),
    ):
        text += f"\tfield:{declaration};\toffset:{at};\tsize:{size};\tsigned:0;\n"
    stranger = EventFormat.parse(text + '\nprint fmt: ""\n', system)
    encoder = PageEncoder("little", 8, stamp=1)
    encoder.event(0, (99).to_bytes(2, "little") + data[2:], long_form=True)
    stream = io.BytesIO(trace_file(("little", 8), [encoder.page()], events=[stranger]))
    assert [str(one) for one in TraceDatReader(stream).events()]
