# SPDX-License-Identifier: MIT
"""The tracefs semantics of a live guest: tracers, filters, and the events they leave."""

from harness.tracer.control import TRACERS, TracerControl
from harness.tracer.filters import matching, select
from harness.tracer.tracer import Tracer

__all__ = ["TRACERS", "Tracer", "TracerControl", "matching", "select"]
