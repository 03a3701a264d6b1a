# SPDX-License-Identifier: MIT
"""The events of our guests, with Linux's names, fields and print formats.

The ids are those of guests/kernel/trace/trace.h; readers take them from the formats in the file.
"""

from dataclasses import replace

from harness.trace.formats import EventDeclaration, EventFormat

FUNCTION = EventDeclaration(
    "function",
    1,
    ("unsigned long ip", "unsigned long parent_ip"),
    '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip',
)

ARGUMENTS = 6
"""FTRACE_REGS_MAX_ARGS."""

FUNCTION_ARGS = EventDeclaration(
    "function",
    1,
    (*FUNCTION.fields, "unsigned long args[]"),
    f'" %ps({", ".join(["0x%lx"] * ARGUMENTS)}) <-- %ps", (void *)REC->ip, '
    f"{', '.join(f'REC->args[{n}]' for n in range(ARGUMENTS))}, (void *)REC->parent_ip",
)
"""With the option func-args; an event of the time before it has no arguments."""

FUNCGRAPH_ENTRY = EventDeclaration(
    "funcgraph_entry",
    11,
    ("unsigned long func", "int depth"),
    '"--> %ps (%d)", (void *)REC->func, REC->depth',
)

FUNCGRAPH_EXIT = EventDeclaration(
    "funcgraph_exit",
    10,
    (
        "unsigned long func",
        "int depth",
        "unsigned int overrun",
        "unsigned long long calltime",
        "unsigned long long rettime",
    ),
    '"<-- %ps (%d) (start: %llx  end: %llx) over: %u", '
    "(void *)REC->func, REC->depth, REC->calltime, REC->rettime, REC->overrun",
    packed=True,
)

FUNCGRAPH_EXIT_RETVAL = replace(
    FUNCGRAPH_EXIT,
    fields=(*FUNCGRAPH_EXIT.fields, "unsigned long retval"),
    print_fmt='"<-- %ps (%d) (start: %llx  end: %llx) over: %u retval: %lx", '
    "(void *)REC->func, REC->depth, REC->calltime, REC->rettime, REC->overrun, REC->retval",
)
"""With the option funcgraph-retval."""

KERNEL_STACK = EventDeclaration(
    "kernel_stack",
    4,
    ("int size", "unsigned long caller[]"),
    ", ".join(['"' + "\\t=> %ps\\n" * 8 + '"', *(f"(void *)REC->caller[{i}]" for i in range(8))]),
)

PRINT = EventDeclaration(
    "print", 5, ("unsigned long ip", "char buf[]"), '"%ps: %s", (void *)REC->ip, REC->buf'
)

# Letters as in ps; the kernel masks other bits.
_STATES = ", ".join(f'{{ {1 << bit:#x}, "{letter}" }}' for bit, letter in enumerate("SDTtXZPI"))

SCHED_SWITCH = EventDeclaration(
    "sched_switch",
    32,
    (
        "char prev_comm[16]",
        "pid_t prev_pid",
        "int prev_prio",
        "long prev_state",
        "char next_comm[16]",
        "pid_t next_pid",
        "int next_prio",
    ),
    '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d '
    'next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? '
    f'__print_flags(REC->prev_state & 0xff, "|", {_STATES}) : "R", '
    'REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio',
    system="sched",
)

SYS_ENTER = EventDeclaration(
    "sys_enter",
    33,
    ("long id", "unsigned long args[6]"),
    '"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], '
    "REC->args[3], REC->args[4], REC->args[5]",
    system="raw_syscalls",
)

SYS_EXIT = EventDeclaration(
    "sys_exit",
    34,
    ("long id", "long ret"),
    '"NR %ld = %ld", REC->id, REC->ret',
    system="raw_syscalls",
)

LATENCY = EventDeclaration(
    "irqsoff",
    35,
    ("unsigned long long latency", "unsigned long start_ip", "unsigned long end_ip"),
    '"%llu ns, from %ps to %ps", REC->latency, (void *)REC->start_ip, (void *)REC->end_ip',
)
"""Written by the irqsoff tracer behind the longest section; Linux has no such event."""

SYSCALL = EventDeclaration("syscall", 64, ("int __syscall_nr",), "", system="syscalls")
"""The first field of the events of single system calls (syscalls.py), and their first id."""

DECLARATIONS = (
    FUNCTION,
    FUNCGRAPH_ENTRY,
    FUNCGRAPH_EXIT,
    KERNEL_STACK,
    PRINT,
    SCHED_SWITCH,
    SYS_ENTER,
    SYS_EXIT,
)
"""The events of every guest."""


def event_formats(
    long_size: int, *, arguments: bool = False, results: bool = False
) -> list[EventFormat]:
    """The formats of these events for a guest whose ``long`` has 4 or 8 bytes.

    ``arguments``: function events have those of the function; ``results``: exits have the result.
    """
    other = {FUNCTION: FUNCTION_ARGS} if arguments else {}
    other |= {FUNCGRAPH_EXIT: FUNCGRAPH_EXIT_RETVAL} if results else {}
    return [other.get(one, one).layout(long_size) for one in DECLARATIONS]
