# SPDX-License-Identifier: MIT
"""Numbers that the guests' headers define, and the harness has too: they are the same."""

import ast
import operator
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from harness.conformance.under_test import selftests, switch
from harness.image import threads as image_threads
from harness.oracle import compare
from harness.ring import header, page
from harness.trace import declarations
from harness.trace import events as trace_events
from harness.tracer import event_filter, event_filters, events, threads, tracer, triggers

KERNEL = Path(__file__).parents[2] / "guests/kernel"

OPERATIONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="} | {
    **{"BAND": "&", "GLOB": "~"}
}
FLAGS = ("IRQS_OFF", "NEED_RESCHED", "HARDIRQ", "PREEMPT_RESCHED", "NMI")
COPIES = {
    "_TIF_SYSCALL_TRACEPOINT": threads.SYSCALL_TRACEPOINT,
    "EVENT_IGNORED": threads.EVENT_IGNORED,
    "EVENT_FILTERS": threads.EVENT_FILTERS,
    "TRACE_EVENT_SCHED_SWITCH": events._BITS["sched:sched_switch"],
    "TRACE_EVENT_SYS_ENTER": events._BITS["raw_syscalls:sys_enter"],
    "TRACE_EVENT_SYS_EXIT": events._BITS["raw_syscalls:sys_exit"],
    "TRACE_EVENT_SYSCALLS": events._SINGLE,
    "SYSCALL_ENTER": events._ENTER,
    "SYSCALL_EXIT": events._EXIT,
    "TRACE_OPTION_STACKTRACE": tracer._STACKTRACE,
    "TRACE_OPTION_GRAPH_NO_IRQS": tracer._NO_IRQS,
    "TRACE_OPTION_FILTERS": event_filters.OPTION_FILTERS,
    "FILTER_ACCEPT": event_filter.ACCEPT,
    "FILTER_REJECT": event_filter.REJECT,
    **{f"FILTER_{kind.name}": kind.value for kind in event_filter.FilterKind},
    **{f"FILTER_{name}": event_filter.OPERATIONS[text] for name, text in OPERATIONS.items()},
    **{f"TRIGGER_{name.upper()}": number for name, number in triggers.COMMANDS.items()},
    "TRIGGER_UNLIMITED": triggers.UNLIMITED,
    "TASK_FREE": image_threads.FREE,
    "EXIT_ZOMBIE": image_threads.ENDED,
    "FTRACE_SELFTESTS": selftests.NUMBER,
    **{f"SELFTEST_{action.name}": action.value for action in selftests.Action},
    "FTRACE_FL_ENABLED": switch.ENABLED,
    "FTRACE_RETFUNC_DEPTH": compare.MAX_DEPTH,
    "FTRACE_REGS_MAX_ARGS": declarations.ARGUMENTS,
    "TRACE_FN": declarations.FUNCTION.id,
    "TRACE_STACK": declarations.KERNEL_STACK.id,
    "TRACE_PRINT": declarations.PRINT.id,
    "TRACE_GRAPH_RET": declarations.FUNCGRAPH_EXIT.id,
    "TRACE_GRAPH_ENT": declarations.FUNCGRAPH_ENTRY.id,
    "TRACE_SCHED_SWITCH": declarations.SCHED_SWITCH.id,
    "TRACE_SYS_ENTER": declarations.SYS_ENTER.id,
    "TRACE_SYS_EXIT": declarations.SYS_EXIT.id,
    "TRACE_LATENCY": declarations.LATENCY.id,
    **{f"TRACE_FLAG_{name}": getattr(trace_events, name) for name in FLAGS},
    "RING_BUFFER_MAGIC": header.MAGIC,
    "RING_BUFFER_VERSION": header.VERSION,
    "RB_FL_OVERWRITE": header.OVERWRITE,
    "RB_DELTA_BITS": page.DELTA_BITS,
    "RB_DELTA_MASK": page.DELTA_MASK,
    "RB_TYPE_TIME_EXTEND": page.TIME_EXTEND,
    "RB_MAX_TYPE_LENGTH": 4 * page.MAX_TYPE_LEN,
}
"""The harness's value of each name in the headers."""

WHOLE = ("EVENT_", "FILTER_", "SELFTEST_", "SYSCALL_E", "TRIGGER_")
"""Of names that begin so the harness has all."""

OPERATORS = {
    ast.LShift: operator.lshift,
    ast.Sub: operator.sub,
    ast.BitOr: operator.or_,
}


def texts() -> list[str]:
    """The headers without comments and without continued lines."""
    found = []
    for path in sorted(KERNEL.rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        found.append(text.replace("\\\n", " "))
    return found


@cache
def definitions() -> dict[str, set[str]]:
    """The texts of all constants, by name: of macros without parameters, and of enumerators."""
    found = defaultdict(set)
    for text in texts():
        for name, value in re.findall(r"^#define[ \t]+(\w+)[ \t]+(\S.*?)\s*$", text, re.MULTILINE):
            found[name].add(value)
        for body in re.findall(r"\benum\s+\w+\s*\{(.*?)\}", text, re.DOTALL):
            assert "=" not in body
            names = re.findall(r"(\w+)\s*(?:,|$)", body.strip())
            for number, name in enumerate(names):
                found[name].add(str(number))
    return found


def value_of(name: str, known: dict[str, set[str]]) -> int:
    """The value of a name that is defined once."""
    (text,) = known[name]
    literals = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Name):
            return value_of(node.id, known)
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        assert isinstance(node, ast.Constant), text
        assert isinstance(node.value, int), text
        return node.value

    return value(ast.parse(literals, mode="eval").body)


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_right(name: str) -> None:
    assert COPIES[name] == value_of(name, definitions())


def test_nothing_is_left_out() -> None:
    known = {name for name in definitions() if name.startswith(WHOLE)}
    # The place of the flags of an event, and not an event's.
    assert known - set(COPIES) == {"EVENT_FLAGS_SHIFT"}
