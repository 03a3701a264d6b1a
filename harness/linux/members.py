# SPDX-License-Identifier: MIT
"""The members of the kernel's structures that are looked for in its debug information.

Kernels lack some of them: an error is raised when one is needed.
"""

from collections.abc import Mapping
from typing import NamedTuple


class WantedMembers(NamedTuple):
    """The option of the kernel's configuration that a structure comes with, and its members."""

    option: str
    paths: tuple[str, ...]


MEMBERS: Mapping[str, WantedMembers] = {
    "trace_array": WantedMembers(
        "TRACING",
        (
            *("array_buffer.buffer", "trace_buffer.buffer", "buffer_disabled", "stop_count"),
            *("clock_id", "current_trace", "function_enabled", "ops", "events", "trace_flags"),
            *("array_buffer.data", "trace_buffer.data", "function_pids", "filtered_pids"),
        ),
    ),
    "trace_array_cpu": WantedMembers("TRACING", ("ignore_pid", "ftrace_ignore_pid")),
    "tracer": WantedMembers("TRACING", ("name", "next", "enabled", "flags")),
    "tracer_flags": WantedMembers("TRACING", ("val", "opts")),
    "tracer_opt": WantedMembers("TRACING", ("name", "bit")),
    "trace_bprintk_fmt": WantedMembers("TRACING", ("list.next", "fmt")),
    "trace_buffer": WantedMembers(
        "RING_BUFFER", ("flags", "record_disabled", "buffers", "subbuf_size")
    ),
    "ring_buffer_per_cpu": WantedMembers(
        "RING_BUFFER",
        (
            *("cpu", "record_disabled", "nr_pages", "pages", "head_page", "tail_page"),
            *("commit_page", "reader_page", "entries", "overrun", "commit_overrun"),
            *("dropped_events", "committing", "read", "pages_read"),
        ),
    ),
    "buffer_page": WantedMembers("RING_BUFFER", ("list.next", "write", "read", "page")),
    "buffer_data_page": WantedMembers("RING_BUFFER", ("time_stamp", "commit", "data")),
    "dyn_ftrace": WantedMembers("DYNAMIC_FTRACE", ("ip", "flags")),
    "ftrace_page": WantedMembers("DYNAMIC_FTRACE", ("next", "records", "index")),
    "ftrace_ops": WantedMembers(
        "FUNCTION_TRACER",
        (
            *("func", "next", "flags", "private", "trampoline"),
            *("func_hash", "saved_func"),
        ),
    ),
    "ftrace_ops_hash": WantedMembers("DYNAMIC_FTRACE", ("filter_hash", "notrace_hash")),
    "ftrace_hash": WantedMembers("FUNCTION_TRACER", ("size_bits", "buckets", "count")),
    "ftrace_func_entry": WantedMembers("FUNCTION_TRACER", ("hlist.next", "ip")),
    "trace_event_call": WantedMembers(
        "EVENT_TRACING",
        ("list.next", "class", "name", "event.type", "print_fmt", "flags", "data"),
    ),
    "trace_event_class": WantedMembers("EVENT_TRACING", ("system", "fields.next", "fields.prev")),
    "ftrace_event_field": WantedMembers(
        "EVENT_TRACING",
        ("link.next", "link.prev", "name", "type", "offset", "size", "is_signed", "len"),
    ),
    "trace_event_file": WantedMembers("EVENT_TRACING", ("list.next", "event_call", "flags")),
    "tracepoint": WantedMembers("TRACEPOINTS", ("name",)),
    "task_struct": WantedMembers(
        "FTRACE", ("tasks.next", "thread_group.next", "thread_node.next", "pid", "comm", "signal")
    ),
    "signal_struct": WantedMembers("FTRACE", ("thread_head.next",)),
    "thread_info": WantedMembers("FTRACE", ("preempt.count", "preempt_count", "task")),
    "saved_cmdlines_buffer": WantedMembers(
        "TRACING", ("map_cmdline_to_pid", "cmdline_num", "saved_cmdlines")
    ),
    "module": WantedMembers(
        "MODULES",
        (
            *("state", "list.next", "name", "kallsyms", "mem", "core_layout.base"),
            *("core_layout.size", "module_core", "core_size"),
        ),
    ),
    "module_memory": WantedMembers("MODULES", ("base", "size")),
    "vmap_area": WantedMembers(
        "MMU",
        ("va_start", "va_end", "rb_node", "rb_node.rb_left", "rb_node.rb_right", "vm"),
    ),
    "vmap_node": WantedMembers("MMU", ("busy.root",)),
    "vm_struct": WantedMembers("MMU", ("addr", "size", "pages", "nr_pages")),
    "page": WantedMembers("MMU", ("flags",)),
    "mod_kallsyms": WantedMembers("KALLSYMS", ("symtab", "num_symtab", "strtab", "typetab")),
}

CONSTANTS = {
    "TRACE_EVENT_FL_TRACEPOINT": "EVENT_TRACING",
    "EVENT_FILE_FL_PID_FILTER": "EVENT_TRACING",
    "FTRACE_FL_CALL_OPS": "DYNAMIC_FTRACE_WITH_CALL_OPS",
    "FTRACE_FL_CALL_OPS_EN": "DYNAMIC_FTRACE_WITH_CALL_OPS",
}
"""Constants of enums whose values kernels change, and the option that each comes with."""

FILES = (
    "kernel/trace/ring_buffer.c",
    "kernel/trace/ftrace.c",
    "kernel/trace/trace_events.c",
    "kernel/trace/trace.c",
    "kernel/trace/trace_printk.c",
    "kernel/trace/trace_sched_switch.c",
    "kernel/module/main.c",
    "kernel/module.c",
    "mm/vmalloc.c",
)
"""The kernel's source files that use them."""
