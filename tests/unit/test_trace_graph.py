# SPDX-License-Identifier: MIT
"""The graph view is the function_graph tracer's trace file, to the character."""

import io
from itertools import chain

import pytest

from graph_files import NESTED, back, call, graph_pages, graph_trace
from harness.errors import UsageError
from harness.trace import (
    EventFormat,
    FuncgraphExitEvent,
    GraphOptions,
    TraceDatReader,
    event_formats,
    parse_filters,
    report_graph,
    report_text,
)
from ring_encoder import function_payload
from trace_files import FORMATS, kallsyms, trace_file

FORM = ("big", 4)

HEADER = """\
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
"""
RULE = " ------------------------------------------"


def read(data):
    return TraceDatReader(io.BytesIO(data))


def report(data, *words, filters=()):
    reader = read(data)
    keep = parse_filters(filters, reader.formats.values())
    return list(report_graph(reader, keep=keep, options=GraphOptions.parse(words)))


def body(data, *words, filters=()):
    """The lines below the header."""
    lines = report(data, *words, filters=filters)
    return [line for line in lines if not line.startswith("#")]


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


def leafs(count):
    pairs = ((call(i, "leaf", 0), back(i + 1, "leaf", 0, i)) for i in range(0, 2 * count, 2))
    return list(chain.from_iterable(pairs))


def test_the_whole_view(form):
    assert (
        report(graph_trace(form, NESTED))
        == (
            HEADER
            + """\
 0)               |  start() {
 0)               |    do_work() {
 0)   0.633 us    |      leaf();
 0) ! 150.345 us  |      leaf();
 0) ! 152.000 us  |    }
 0) # 1152.600 us |  }
"""
        ).splitlines()
    )


def test_the_text_view_of_the_tracer_is_the_graph_view():
    data = graph_trace(FORM, NESTED)
    assert read(data).tracer == "function_graph"
    assert list(report_text(read(data))) == report(data)


def test_every_option_on():
    words = [f"funcgraph-{name}" for name in ("proc", "abstime", "tail", "overrun")]
    assert report(graph_trace(FORM, NESTED[3:4] + NESTED[-4:]), *words) == [
        "# tracer: function_graph",
        "#",
        "#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS",
        "#      |          |     |    |           |   |                     |   |   |   |",
        "    5.000001 |   0)   workloa-1    |   0.633 us    |      } /* leaf */",
        " (Overruns: 0)",
        "    5.000002 |   0)   workloa-1    | ! 150.345 us  |      leaf();",
        "    5.000152 |   0)   workloa-1    | ! 152.000 us  |    } /* do_work */",
        " (Overruns: 0)",
        "    5.001152 |   0)   workloa-1    | # 1152.600 us |  } /* start */",
        " (Overruns: 0)",
    ]


def test_every_option_off():
    words = [f"nofuncgraph-{name}" for name in ("cpu", "duration", "overhead", "irqs")]
    assert report(graph_trace(FORM, NESTED), *words) == [
        "# tracer: function_graph",
        "#",
        "#               FUNCTION CALLS",
        "#               |   |   |   |",
        "start() {",
        "  do_work() {",
        "    leaf();",
        "    leaf();",
        "  }",
        "}",
    ]


def test_no_overhead_marks():
    lines = body(graph_trace(FORM, NESTED), "nofuncgraph-overhead")
    assert lines[-1] == " 0)   1152.600 us |  }"


@pytest.mark.parametrize(
    ("nanoseconds", "column"),
    [
        (0, "  0.000 us    |"),
        (999, "  0.999 us    |"),
        (10_000, "  10.000 us   |"),
        (10_001, "+ 10.001 us   |"),
        (100_000, "+ 100.000 us  |"),
        (100_001, "! 100.001 us  |"),
        (1_000_001, "# 1000.001 us |"),
        (10_000_001, "* 10000.00 us |"),
        (100_000_999, "@ 100000.9 us |"),
        (1_000_000_000, "@ 1000000 us  |"),
        (1_000_000_001, "$ 1000000 us  |"),
        (12_345_678_901, "$ 12345678 us |"),
        (2**40 * 1000, "$ 1099511627776 us |"),
    ],
)
def test_durations(nanoseconds, column):
    events = [call(10**9, "leaf", 0), back(10**9 + nanoseconds, "leaf", 0, 10**9)]
    assert body(graph_trace(FORM, events)) == [f" 0) {column}  leaf();"]


def test_a_return_without_its_call_is_named():
    assert body(graph_trace(FORM, NESTED[-2:])) == [
        " 0) ! 152.000 us  |    } /* do_work */",
        " 0) # 1152.600 us |  } /* start */",
    ]


def test_a_return_from_another_function_than_was_called_is_named():
    events = [
        call(0, "start", 0),
        call(1, "leaf", 1),
        back(3, "start", 0, 0),
        call(4, "start", 0),
        call(5, "leaf", 1),
        back(6, "do_work", 1, 0),
        back(7, "do_work", 1, 0),
    ]
    assert [line[20:] for line in body(graph_trace(FORM, events))] == [
        " start() {", "   leaf() {", " }", " start() {", "   leaf() {",
        "   } /* do_work */", "   } /* do_work */",
    ]  # fmt: skip


def test_a_second_return_is_named():
    events = [
        call(0, "start", 0),
        call(1, "leaf", 1),
        back(2, "start", 0, 0),
        back(3, "start", 0, 0),
    ]
    assert [line[21:] for line in body(graph_trace(FORM, events))[2:]] == ["}", "} /* start */"]


def test_deeper_than_the_kernel_remembers_no_return_is_named():
    for depth, brace in ((49, "} /* start */"), (50, "}"), (51, "}")):
        (line,) = body(graph_trace(FORM, [back(3, "start", depth, 0)]))
        assert line.endswith(f"|  {'  ' * depth}{brace}")


def test_a_call_without_its_return_stays_open():
    assert body(graph_trace(FORM, NESTED[:3]))[-1] == " 0)               |      leaf() {"


def test_a_leaf_needs_the_same_function_of_the_same_task():
    for other in (back(9, "do_work", 0, 0), back(9, "leaf", 0, 0, pid=2), call(9, "leaf", 0)):
        data = graph_trace(FORM, [call(0, "leaf", 0), other])
        assert body(data)[0].endswith("leaf() {")


def test_losses_are_told_where_they_are_and_part_a_leaf():
    events = [call(0, "leaf", 0), 7, back(5, "leaf", 0, 0), -1, call(9, "leaf", 0)]
    assert body(graph_trace(FORM, events)) == [
        " 0)               |  leaf() {",
        "CPU:0 [LOST 7 EVENTS]",
        " 0)   0.005 us    |  }",
        "CPU:0 [LOST EVENTS]",
        " 0)               |  leaf() {",
    ]


def test_task_switches():
    events = [
        call(0, "start", 0),
        call(1, "leaf", 0, pid=0),
        back(2, "leaf", 0, 1, pid=0),
        back(3, "start", 0, 0),
    ]
    assert body(graph_trace(FORM, events)) == [
        " 0)               |  start() {",
        RULE,
        " 0)   workloa-1    =>    <idle>-0   ",
        RULE,
        "",
        " 0)   0.001 us    |  leaf();",
        RULE,
        " 0)    <idle>-0    =>   workloa-1   ",
        RULE,
        "",
        # The kernel remembers calls by CPU, not by task: the idle task's call was the last.
        " 0)   0.003 us    |  } /* start */",
    ]


def test_cpus_are_merged_and_a_leaf_stays_whole():
    first = [call(0, "leaf", 0), back(20, "leaf", 0, 0)]
    second = [call(10, "start", 0, pid=2), call(11, "leaf", 1, pid=2)]
    cpus = [[]] * 11
    cpus[0], cpus[10] = first, second
    assert body(graph_trace(FORM, *cpus)) == [
        "  0)   0.020 us    |  leaf();",
        " 10)               |  start() {",
        " 10)               |    leaf() {",
    ]


def test_the_number_of_a_cpu_is_as_wide_as_the_last_ones():
    cpus = [[call(number, "start", 0)] for number in range(10)]
    assert body(graph_trace(FORM, *cpus))[9].startswith(" 9) ")


IRQ = "80100100 t __irqentry_text_start\n80100200 t __irqentry_text_end\n"


def test_interrupts_are_marked():
    events = [call(0, "start", 0), call(1, "do_work", 1), call(2, "leaf", 2)]
    events += [back(3, "leaf", 2, 2), back(4, "do_work", 1, 1), call(5, "do_work", 1)]
    events += [back(6, "do_work", 1, 5), back(7, "start", 0, 0)]
    data = graph_trace(FORM, events, kallsyms=kallsyms(4) + IRQ)
    assert body(data) == [
        " 0)               |  start() {",
        " 0)   ==========> |",
        " 0)               |    do_work() {",
        " 0)   0.001 us    |      leaf();",
        " 0)   0.003 us    |    }",
        " 0)   <========== |",
        " 0)   ==========> |",
        " 0)   0.001 us    |    do_work();",
        " 0)   <========== |",
        " 0)   0.007 us    |  }",
    ]
    assert body(data, "nofuncgraph-irqs") == [
        " 0)               |  start() {",
        " 0)   0.007 us    |  }",
    ]


def printed(stamp, text, order="big", long_size=4):
    payload = (5).to_bytes(2, order) + bytes(2) + (1).to_bytes(4, order)
    return stamp, payload + (0x80100104).to_bytes(long_size, order) + text.ljust(16, b"\0")


def with_print_format():
    text = event_formats(4)[0].text
    text = text.replace("name: function\nID: 1\n", "name: print\nID: 5\n")
    text = text.replace("unsigned long parent_ip", "char buf[16]").replace("size:4;\tsigned:0;\n\n"
    "print", "size:16;\tsigned:0;\n\nprint")  # fmt: skip
    return [*event_formats(4), EventFormat.parse(text, "ftrace")]


def test_other_events_are_comments_and_function_events_lines():
    function = function_payload("big", 4, 0x80100204, 0x80100304)
    events = [printed(0, b"begin\n"), call(1, "start", 0), printed(2, b"x")]
    events += [call(3, "do_work", 1), printed(4, b"hello\n"), (5, function)]
    events += [call(6, "leaf", 2), back(7, "leaf", 2, 6), printed(8, b"bye\n")]
    events += [back(9, "do_work", 1, 3), printed(10, b"end\n")]
    assert body(graph_trace(FORM, events, events=with_print_format())) == [
        " 0)               |  /* begin */",
        " 0)               |  start() {",
        " 0)               |  /* x */",
        " 0)               |    do_work() {",
        " 0)               |      /* hello */",
        "        workload-1       [000] .....     0.000000: leaf <-caller",
        " 0)   0.001 us    |      leaf();",
        " 0)               |      /* bye */",
        " 0)   0.006 us    |    }",
        " 0)               |  /* end */",
    ]


def test_filters():
    data = graph_trace(FORM, NESTED)
    leafs = [" 0)   0.633 us    |      leaf();", " 0) ! 150.345 us  |      leaf();"]
    assert body(data, filters=["funcgraph_entry: func == leaf"]) == leafs
    exits = [line.replace("leaf();", "} /* leaf */") for line in leafs]
    assert body(data, filters=["funcgraph_exit: func == leaf"]) == exits


def test_a_filter_does_not_hide_losses():
    data = graph_trace(FORM, [call(0, "start", 0), 3, call(1, "leaf", 1)])
    assert body(data, filters=["funcgraph_entry: func == start"])[-1] == "CPU:0 [LOST 3 EVENTS]"


@pytest.mark.parametrize("depth", [-(2**31), -1, 49, 50, 300, 2**31 - 1])
def test_absurd_depths_are_bounded(depth):
    events = [call(0, "start", depth), call(1, "leaf", depth), back(2, "leaf", depth, 1)]
    lines = body(graph_trace(FORM, [*events, printed(3, b"x")], events=with_print_format()))
    assert max(map(len, lines)) < 600
    assert lines[0].endswith("start() {")


@pytest.mark.parametrize(
    "word",
    ["tail", "funcgraph-", "funcgraph-nix", "no-funcgraph-tail", "notail", "", "xfuncgraph-cpu"],
)
def test_options_that_do_not_exist(word):
    with pytest.raises(UsageError, match="not an option") as raised:
        GraphOptions.parse([word])
    assert "funcgraph-overhead" in raised.value.advice


def test_the_last_word_wins():
    assert GraphOptions.parse(["funcgraph-tail", "nofuncgraph-tail"]) == GraphOptions()


def test_events_come_as_they_are_asked_for():
    stream = io.BytesIO(graph_trace(FORM, leafs(2000)))
    lines = report_graph(TraceDatReader(stream))
    for _ in range(6):
        next(lines)
    assert stream.tell() <= 4096 * 3


def test_an_older_kernels_exit_is_read_too():
    """Depth last, a long overrun, natural alignment: the format text says so."""
    fields = [("unsigned long func", 8, 8), ("unsigned long overrun", 16, 8),
              ("unsigned long long calltime", 24, 8), ("unsigned long long rettime", 32, 8),
              ("int depth", 40, 4)]  # fmt: skip
    text = event_formats(8)[2].text
    head, tail = text.index("\tfield:unsigned long func"), text.index("print fmt")
    lines = [f"\tfield:{one};\toffset:{at};\tsize:{size};\tsigned:0;\n" for one, at, size in fields]
    old = EventFormat.parse(text[:head] + "".join(lines) + "\n" + text[tail:], "ftrace")
    values = [0xFFFFFFFF80100204, 3, 1000, 1633]
    payload = (10).to_bytes(2, "little") + bytes(2) + (1).to_bytes(4, "little")
    payload += b"".join(value.to_bytes(8, "little") for value in values) + (2).to_bytes(4, "little")
    form = ("little", 8)
    formats = [*event_formats(8)[:2], old]
    (event,) = read(trace_file(form, [graph_pages(form, [(0, payload)])], events=formats)).events()
    assert isinstance(event, FuncgraphExitEvent)
    assert (event.function, event.depth, event.overrun, event.duration) == ("leaf", 2, 3, 633)
