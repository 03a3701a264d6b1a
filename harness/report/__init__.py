# SPDX-License-Identifier: MIT
"""A trace in one of the views: lines, bytes, or a page for a browser."""

from harness.report.views import VIEWS, report_bytes, report_lines

__all__ = ["VIEWS", "report_bytes", "report_lines"]
