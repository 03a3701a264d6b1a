# SPDX-License-Identifier: MIT
"""Trace events, their formats, and trace files.  Works on open streams."""

from harness.trace.declarations import (
    FUNCGRAPH_ENTRY,
    FUNCGRAPH_EXIT,
    FUNCTION,
    LATENCY,
    event_formats,
)
from harness.trace.difference import Difference, trace_difference
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.filter import parse_filters
from harness.trace.formats import EventDeclaration, EventFormat
from harness.trace.reader import TraceDatReader
from harness.trace.statistics import Statistics, add_events, trace_statistics
from harness.trace.symbols import Symbols
from harness.trace.syscalls import Syscall, parse_syscall
from harness.trace.views import (
    GraphOptions,
    difference_json,
    difference_text,
    report_chrome,
    report_csv,
    report_flame,
    report_graph,
    report_json,
    report_text,
    stat_json,
    stat_text,
)
from harness.trace.writer import (
    HEADER_EVENT,
    CpuStatistics,
    TraceDescription,
    header_page_text,
    write_trace_dat,
)

__all__ = [
    "FUNCGRAPH_ENTRY",
    "FUNCGRAPH_EXIT",
    "FUNCTION",
    "HEADER_EVENT",
    "LATENCY",
    "CpuStatistics",
    "Difference",
    "EventDeclaration",
    "EventFormat",
    "FuncgraphEntryEvent",
    "FuncgraphExitEvent",
    "FunctionEvent",
    "GraphOptions",
    "Statistics",
    "Symbols",
    "Syscall",
    "TraceDatReader",
    "TraceDescription",
    "TraceEvent",
    "add_events",
    "difference_json",
    "difference_text",
    "event_formats",
    "header_page_text",
    "parse_filters",
    "parse_syscall",
    "report_chrome",
    "report_csv",
    "report_flame",
    "report_graph",
    "report_json",
    "report_text",
    "stat_json",
    "stat_text",
    "trace_difference",
    "trace_statistics",
    "write_trace_dat",
]
