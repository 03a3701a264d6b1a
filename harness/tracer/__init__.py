# SPDX-License-Identifier: MIT
"""The tracefs semantics of a live guest: tracers, filters, and the events they leave."""

from harness.tracer.control import TRACERS, TracerControl, TracerState
from harness.tracer.filters import matching, select
from harness.tracer.port_calls import PortCalls
from harness.tracer.tracer import Tracer

__all__ = ["TRACERS", "PortCalls", "Tracer", "TracerControl", "TracerState", "matching", "select"]
