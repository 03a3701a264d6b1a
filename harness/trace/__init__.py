# SPDX-License-Identifier: MIT
"""Trace events, their formats, and the files that hold them.  Works on streams others open."""

from harness.trace.events import FunctionEvent, TraceEvent
from harness.trace.formats import FUNCTION, EventDeclaration, EventFormat, Field, event_formats
from harness.trace.reader import TraceDatReader
from harness.trace.symbols import Symbols
from harness.trace.text import header_lines, report_text
from harness.trace.writer import CpuStatistics, TraceDescription, write_trace_dat

__all__ = [
    "FUNCTION",
    "CpuStatistics",
    "EventDeclaration",
    "EventFormat",
    "Field",
    "FunctionEvent",
    "Symbols",
    "TraceDatReader",
    "TraceDescription",
    "TraceEvent",
    "event_formats",
    "header_lines",
    "report_text",
    "write_trace_dat",
]
