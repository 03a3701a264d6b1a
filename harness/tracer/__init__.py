# SPDX-License-Identifier: MIT
"""The tracefs semantics of a live guest: tracers, filters, and the events they leave."""

from harness.tracer.control import TRACERS, TracerControl
from harness.tracer.events import declared_syscalls
from harness.tracer.filters import matching, select
from harness.tracer.options import SHOWN_OPTIONS
from harness.tracer.port_calls import PortCalls
from harness.tracer.tracer import Tracer

__all__ = [
    "SHOWN_OPTIONS",
    "TRACERS",
    "PortCalls",
    "Tracer",
    "TracerControl",
    "declared_syscalls",
    "matching",
    "select",
]
