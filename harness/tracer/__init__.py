# SPDX-License-Identifier: MIT
"""The semantics of tracefs for a live guest: tracers, filters and events."""

from harness.tracer.control import TracerState
from harness.tracer.events import declared_syscalls
from harness.tracer.filters import matching
from harness.tracer.linux import LinuxTracer
from harness.tracer.module_filter import title
from harness.tracer.options import SHOWN_OPTIONS
from harness.tracer.pids import PidList
from harness.tracer.pipe import TracePipe
from harness.tracer.port_calls import PortCalls
from harness.tracer.profile import Profile
from harness.tracer.setup import TRACERS, Hooks, has_graph_tracer
from harness.tracer.slots import has_one_slot, link_ops, pointers, slot_code, slot_function
from harness.tracer.stack_tracer import StackEntry
from harness.tracer.tracer import Tracer

__all__ = [
    "SHOWN_OPTIONS",
    "TRACERS",
    "Hooks",
    "LinuxTracer",
    "PidList",
    "PortCalls",
    "Profile",
    "StackEntry",
    "TracePipe",
    "Tracer",
    "TracerState",
    "declared_syscalls",
    "has_graph_tracer",
    "has_one_slot",
    "link_ops",
    "matching",
    "pointers",
    "slot_code",
    "slot_function",
    "title",
]
