# SPDX-License-Identifier: MIT
"""The views of a trace.  Each yields lines while it reads."""

from harness.trace.views.chrome import report_chrome
from harness.trace.views.csv import report_csv
from harness.trace.views.difference import difference_json, difference_text
from harness.trace.views.flame import report_flame
from harness.trace.views.graph import GraphOptions, report_graph
from harness.trace.views.json import report_json
from harness.trace.views.perfetto import report_perfetto
from harness.trace.views.stat import stat_json, stat_text
from harness.trace.views.text import report_text

__all__ = [
    "GraphOptions",
    "difference_json",
    "difference_text",
    "report_chrome",
    "report_csv",
    "report_flame",
    "report_graph",
    "report_json",
    "report_perfetto",
    "report_text",
    "stat_json",
    "stat_text",
]
