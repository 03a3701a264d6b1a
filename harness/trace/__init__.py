# SPDX-License-Identifier: MIT
"""Trace events, their formats, and the files that hold them.  Works on streams others open."""

from harness.trace.events import (
    FuncgraphEntryEvent,
    FuncgraphExitEvent,
    FunctionEvent,
    TraceEvent,
)
from harness.trace.filter import parse_filters
from harness.trace.formats import (
    FUNCGRAPH_ENTRY,
    FUNCGRAPH_EXIT,
    FUNCTION,
    EventDeclaration,
    EventFormat,
    Field,
    event_formats,
)
from harness.trace.reader import TraceDatReader
from harness.trace.report import VIEWS, report_lines
from harness.trace.statistics import Statistics, add_events, trace_statistics
from harness.trace.symbols import Symbols
from harness.trace.views import (
    GraphOptions,
    header_lines,
    report_chrome,
    report_csv,
    report_flame,
    report_graph,
    report_json,
    report_text,
    stat_json,
    stat_text,
)
from harness.trace.writer import CpuStatistics, TraceDescription, write_trace_dat

__all__ = [
    "FUNCGRAPH_ENTRY",
    "FUNCGRAPH_EXIT",
    "FUNCTION",
    "VIEWS",
    "CpuStatistics",
    "EventDeclaration",
    "EventFormat",
    "Field",
    "FuncgraphEntryEvent",
    "FuncgraphExitEvent",
    "FunctionEvent",
    "GraphOptions",
    "Statistics",
    "Symbols",
    "TraceDatReader",
    "TraceDescription",
    "TraceEvent",
    "add_events",
    "event_formats",
    "header_lines",
    "parse_filters",
    "report_chrome",
    "report_csv",
    "report_flame",
    "report_graph",
    "report_json",
    "report_lines",
    "report_text",
    "stat_json",
    "stat_text",
    "trace_statistics",
    "write_trace_dat",
]
