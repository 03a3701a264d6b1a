# SPDX-License-Identifier: MIT
"""set_ftrace_pid and set_event_pid of a Linux kernel.

As ``pid_write()`` of kernel/trace/ftrace.c and ``event_pid_write()`` of kernel/trace/trace_events.c
do it, which themselves can only be called by a process that writes the numbers.
"""

from collections.abc import Sequence

from harness.errors import UsageError
from harness.linux.calls import KernelCalls
from harness.linux.kernel import Kernel

IGNORE = -1
"""FTRACE_PID_IGNORE."""

FIRST, LAST = (1 << 31) - 1, 0
"""Priorities of probes."""

ALL = 1
"""TRACE_PIDS."""

MAX_PID = 1 << 22
MAX_EVENTS = 1 << 14

_SWITCH = "event_filter_pid_sched_switch_probe"
_WAKEUP = "event_filter_pid_sched_wakeup_probe"

EVENT_PROBES = (
    ("sched_switch", _SWITCH),
    ("sched_wakeup", _WAKEUP),
    ("sched_wakeup_new", _WAKEUP),
    ("sched_waking", _WAKEUP),
)


class PidLists:
    """The processes that are traced; each change lets the kernel run for a moment."""

    def __init__(self, kernel: Kernel, calls: KernelCalls) -> None:
        self._kernel = kernel
        self._calls = calls
        self._trace = kernel.symbol("global_trace", "TRACING")

    @property
    def has_functions(self) -> bool:
        """Whether the functions of some processes only are traced."""
        layout = self._kernel.layouts["trace_array"]
        if "function_pids" not in layout:
            return False
        return bool(self._kernel.pointer(self._trace + layout.place("function_pids").offset))

    def set_functions(self, pids: Sequence[int]) -> None:
        """Trace the functions of these processes only; of all without any.

        The function tracer must be off.
        """
        calls, member = self._calls, self._member("function_pids")
        made = self._made(pids)
        if self._kernel.pointer(member):
            calls.call("ftrace_clear_pids", self._trace)
        if not made:
            return
        self._kernel.store(member, made)
        self._register("sched_switch", "ftrace_filter_pid_sched_switch_probe", None)
        self._mark("ftrace_ignore_pid", pids, IGNORE)

    def set_events(self, pids: Sequence[int]) -> None:
        """Record the events of these processes only; of all without any."""
        calls, member = self._calls, self._member("filtered_pids")
        made = self._made(pids)
        if self._kernel.pointer(member):
            calls.call("__ftrace_clear_event_pids", self._trace, ALL)
        if not made:
            return
        self._kernel.store(member, made)
        self._mark_files()
        for event, probe in EVENT_PROBES:
            self._register(event, f"{probe}_pre", FIRST)
            self._register(event, f"{probe}_post", LAST)
        self._mark("ignore_pid", pids, 1)

    def _made(self, pids: Sequence[int]) -> int:
        """A ``struct trace_pid_list``; 0 without numbers."""
        wrong = [pid for pid in pids if not 0 <= pid < MAX_PID]
        if wrong:
            raise UsageError(f"{wrong[0]} is not a process id", "They are numbers from 0 upward.")
        self._calls.prepare()
        if not pids:
            return 0
        made = self._calls.pointer("a list of processes", "trace_pid_list_alloc")
        for pid in pids:
            self._calls.checked(f"the process {pid}", "trace_pid_list_set", made, pid)
        return made

    def _register(self, event: str, probe: str, priority: int | None) -> None:
        kernel = self._kernel
        point = kernel.symbol(f"__tracepoint_{event}", "TRACEPOINTS")
        function = kernel.symbol(probe, "FUNCTION_TRACER")
        words = [point, function, self._trace]
        name = "tracepoint_probe_register"
        if priority is not None:
            name, words = f"{name}_prio", [*words, priority]
        self._calls.checked(f"a probe of {event}", name, *words)

    def _mark(self, path: str, pids: Sequence[int], ignored: int) -> None:
        """Set whether each CPU ignores its current task; the next task is the probe's business."""
        kernel = self._kernel
        place = kernel.layouts["trace_array_cpu"].place(path)
        trace = kernel.layouts["trace_array"]
        data = kernel.pointer(
            self._trace + trace.first("array_buffer.data", "trace_buffer.data").offset
        )
        here = self._calls.current_pid
        for offset, is_here in self._calls.cpu_offsets():
            traced = here if path == "ftrace_ignore_pid" else 0
            value = traced if is_here and here in pids else ignored
            kernel.put((data + offset) & kernel.image.isa.mask, place, value)

    def _mark_files(self) -> None:
        kernel = self._kernel
        head = self._trace + kernel.layouts["trace_array"].place("events").offset
        flags = kernel.layouts["trace_event_file"].place("flags")
        filtered = kernel.layouts.constant("EVENT_FILE_FL_PID_FILTER")
        for address in kernel.listed(head, "trace_event_file", "list.next", MAX_EVENTS):
            held = kernel.number(address + flags.offset, flags.size)
            kernel.put(address, flags, held | filtered)

    def _member(self, path: str) -> int:
        return self._trace + self._kernel.layouts["trace_array"].place(path).offset
