# SPDX-License-Identifier: MIT
"""Files of a kernel's tracefs that guests do not have, and their replacements.

Their names are those of Linux 6.12.
"""

INSTEAD = {
    "available_filter_functions_addrs": "See: sites, or available_filter_functions",
    "dynamic_events": "Set a breakpoint: b FUNCTION, or dprintf FUNCTION,FORMAT",
    "kprobe_events": "Set a breakpoint: b FUNCTION, or dprintf FUNCTION,FORMAT",
    "kprobe_profile": "See: info breakpoints",
    "options/overwrite": "Use: harness record --overwrite",
    "per_cpu/cpu0/snapshot": "Use: snapshot NAME",
    "printk_formats": "report shows the texts of trace_printk().",
    "snapshot": "Use: snapshot NAME, which saves the whole guest.",
    "trace_marker_raw": "Write a text: trace_marker",
    "uprobe_events": "Set a breakpoint: b FUNCTION",
}
"""The replacement of a file, by its path."""

SOME_HAVE = {
    "function_profile_enabled": "Trace with function_graph, then: stat",
    "set_event_notrace_pid": "Use: set_event_pid",
    "set_ftrace_notrace_pid": "Use: set_ftrace_pid",
    "stack_max_size": "Use: info frame, or bt in gdb at a breakpoint.",
    "stack_trace": "Use: bt at a breakpoint, or trace_options func_stack_trace.",
    "stack_trace_filter": "Use: trace_options func_stack_trace.",
    "stack_tracer_enabled": "In a Linux guest it is a sysctl: kernel.stack_tracer_enabled.",
    "trace_stat": "Trace with function_graph, then: stat",
    "tracing_cpumask": "See one CPU: per_cpu/cpuN/trace",
}
"""The same for files that only guests of the harness have."""

OTHERS = {
    *("README", "buffer_percent", "buffer_subbuf_size_kb", "eprobe_events", "events_data"),
    *("free_buffer", "hwlat_detector", "instances", "osnoise", "rv", "saved_cmdlines_size"),
    *("saved_tgids", "synthetic_events", "timestamp_mode"),
    *("uprobe_profile", "user_events_data", "user_events_status"),
}
"""Files without a replacement."""

KNOWN = frozenset(INSTEAD) | OTHERS


def advice_for(path: str) -> str:
    """The replacement of a file that the guest lacks; empty if there is none."""
    for known, instead in {**INSTEAD, **SOME_HAVE}.items():
        if path == known or path.startswith(f"{known}/"):
            return instead
    return ""
