# SPDX-License-Identifier: MIT
"""Events print as the kernel prints them."""

import pytest

from harness.ring import LOST_UNKNOWN
from harness.trace import (
    FuncgraphEntryEvent,
    FuncgraphExitEvent,
    FunctionEvent,
    Symbols,
    TraceEvent,
)
from harness.trace.events import latency_flags, lost_line

SYMBOLS = Symbols("80100000 T do_work\n80100100 t caller\t[module]\n80100200 T _end\n")


def function_event(**changes):
    values = {
        "stamp": 33_793_362_499,
        "cpu": 0,
        "name": "function",
        "pid": 75,
        "comm": "sh",
        "flags": 0,
        "preempt_count": 0,
        "fields": {"ip": 0x80100004, "parent_ip": 0x80100104},
        "lost": 0,
        "symbols": SYMBOLS,
    }
    return FunctionEvent(**values | changes)


def test_a_line_as_the_kernel_prints_it():
    assert str(function_event()) == (
        "              sh-75      [000] .....    33.793362: do_work <-caller [module]"
    )
    assert str(function_event(cpu=12, pid=1234567, comm="workload", flags=1, preempt_count=1)) == (
        "        workload-1234567 [012] d..1.    33.793362: do_work <-caller [module]"
    )


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [
        (0, "    0.000000"),
        (499, "    0.000000"),
        (500, "    0.000001"),
        (999_999_499, "    0.999999"),
        (999_999_500, "    1.000000"),
        (123_456_789_000_000, "123456.789000"),
        (2**64 - 1, "18446744073.709552"),
    ],
)
def test_time_stamps_are_rounded_to_microseconds(stamp, shown):
    assert str(function_event(stamp=stamp)).split("] ..... ")[1].startswith(shown + ": ")


@pytest.mark.parametrize(
    ("flags", "preempt_count", "shown"),
    [
        (0x00, 0x00, "....."),
        (0x01, 0x01, "d..1."),
        (0x02, 0x00, "X...."),
        (0x80, 0x00, "b...."),
        (0x81, 0x00, "D...."),
        (0x04, 0x00, ".n..."),
        (0x20, 0x00, ".p..."),
        (0x24, 0x00, ".N..."),
        (0x08, 0x00, "..h.."),
        (0x10, 0x00, "..s.."),
        (0x18, 0x00, "..H.."),
        (0x40, 0x00, "..z.."),
        (0x48, 0x00, "..Z.."),
        (0x58, 0x00, "..Z.."),
        (0x00, 0x0F, "...f."),
        (0x00, 0x20, "....2"),
        (0x2D, 0x12, "dNh21"),
    ],
)
def test_latency_flags(flags, preempt_count, shown):
    assert latency_flags(flags, preempt_count) == shown


def test_addresses_without_a_name():
    fields = {"ip": 0x80100200, "parent_ip": 0x800FFFFC}
    assert function_event(fields=fields).message == "0x80100200 <-0x800ffffc"


def test_what_a_function_event_says():
    event = function_event()
    assert (event.ip, event.parent_ip) == (0x80100004, 0x80100104)
    assert (event.function, event.parent) == ("do_work", "caller [module]")
    assert repr(event).startswith("<FunctionEvent sh-75 ")


def graph_event(kind, **fields):
    fields = {"func": 0x80100100, "depth": 1, **fields}
    return kind(33_793_362_499, 0, "x", 75, "sh", 0, 0, fields, 0, SYMBOLS)


def test_what_graph_events_say():
    entry = graph_event(FuncgraphEntryEvent)
    assert (entry.func, entry.function, entry.depth) == (0x80100100, "caller [module]", 1)
    assert str(entry).endswith(
        "33.793362: funcgraph_entry:                |    caller [module]() {"
    )
    exit_ = graph_event(FuncgraphExitEvent, overrun=3, calltime=1000, rettime=13_345)
    assert (exit_.overrun, exit_.calltime, exit_.rettime, exit_.duration) == (3, 1000, 13345, 12345)
    assert exit_.message == "funcgraph_exit:       12.345 us |    } /* caller [module] */"


def test_a_return_before_its_call_is_as_long_as_the_kernel_says():
    times = {"overrun": 0, "calltime": 5, "rettime": 3}
    assert graph_event(FuncgraphExitEvent, **times).duration == 2**64 - 2


def test_indentation_is_bounded():
    for depth, blanks in ((-5, 0), (3, 6), (2**31 - 1, 512)):
        assert graph_event(FuncgraphEntryEvent, depth=depth).indentation == " " * blanks


def test_events_are_immutable():
    with pytest.raises(AttributeError):
        function_event().stamp = 5


def test_other_events_show_their_fields():
    event = TraceEvent(
        0, 0, "sys_enter", 1, "sh", 0, 0, {"id": 64, "args": (1, 2), "ip": 1 << 20, "d": b"\1\2"},
        0, SYMBOLS,
    )  # fmt: skip
    assert event.message == "sys_enter: id=64 args=(1, 2) ip=0x100000 d=0102"


def test_lost_lines():
    assert lost_line(3, 7) == "CPU:3 [LOST 7 EVENTS]"
    assert lost_line(0, LOST_UNKNOWN) == "CPU:0 [LOST EVENTS]"
