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
from harness.tracer.slots import (
    LIST_OPS,
    NOP_OPS,
    has_call_ops,
    has_one_slot,
    has_ops,
    link_ops,
    literal_of,
    pointers,
    slot_code,
    slot_function,
)
from harness.tracer.stack_tracer import StackEntry
from harness.tracer.tracer import Tracer, settle

__all__ = [
    "LIST_OPS",
    "NOP_OPS",
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
    "has_call_ops",
    "has_graph_tracer",
    "has_one_slot",
    "has_ops",
    "link_ops",
    "literal_of",
    "matching",
    "pointers",
    "settle",
    "slot_code",
    "slot_function",
    "title",
]
