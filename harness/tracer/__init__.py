# SPDX-License-Identifier: MIT
"""The tracefs semantics of a live guest: tracers, filters, and the events they leave."""

from harness.tracer.control import TRACERS, TracerControl
from harness.tracer.filters import matching, select

__all__ = ["TRACERS", "TracerControl", "matching", "select"]
