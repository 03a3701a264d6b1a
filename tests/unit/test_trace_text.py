# SPDX-License-Identifier: MIT
"""The text report is the kernel's trace file, to the character."""

import io

from harness.ring import PageFormat, mark_lost
from harness.trace import CpuStatistics, TraceDatReader, report_text
from ring_encoder import function_pages
from trace_files import calls, function_trace, trace_file

FORM = ("big", 4)

EXPECTED = """\
# tracer: function
#
# entries-in-buffer/entries-written: 3/12   #P:1
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
CPU:0 [LOST 7 EVENTS]
        workload-1       [000] .....     5.000000: start <-caller
        workload-1       [000] .....     5.000001: do_work <-caller
        workload-1       [000] .....     5.000002: leaf <-caller
"""


def report(data, **options):
    return list(report_text(TraceDatReader(io.BytesIO(data)), **options))


def test_the_whole_report():
    page = mark_lost(function_pages(*FORM, calls(4, 3)), PageFormat(*FORM), 7)
    data = trace_file(FORM, [page], statistics=[CpuStatistics(3, 7, 2)])
    assert report(data) == EXPECTED.splitlines()


def test_a_filter_hides_events_but_not_losses():
    page = mark_lost(function_pages(*FORM, calls(4, 3)), PageFormat(*FORM), 7)
    lines = report(trace_file(FORM, [page]), keep=lambda event: event.function == "leaf")
    assert [line.split(": ")[-1] for line in lines[12:]] == [
        "CPU:0 [LOST 7 EVENTS]",
        "leaf <-caller",
    ]


def test_counters_are_printed_as_they_are():
    lines = report(function_trace(FORM, 1, clock="counter"))
    assert lines[-1] == "        workload-1       [000] .....   5000000000: start <-caller"


def test_the_tracer_is_named():
    assert report(function_trace(FORM, 1), tracer="nop")[0] == "# tracer: nop"
