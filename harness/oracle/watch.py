# SPDX-License-Identifier: MIT
"""What the plugin is told to watch besides call sites, found in the image: exceptions, threads, and
the instruction at which the tracer settles where among the others an event stands.
"""

from dataclasses import dataclass

from harness.errors import HarnessError
from harness.image import Image, thread_count

SWITCH = "__switch_to"
THREAD_ENTRY = "thread_entry"

MARKED = (
    *("function_trace_call", "function_graph_enter"),
    *("ftrace_return_to_handler", "graph_leave_untraced"),
)
"""Functions of the guest's tracer that mask interrupts and then write an event, or, the last one,
give up a place on the stack of return addresses without one."""


@dataclass(frozen=True, slots=True)
class ThreadWatch:
    """Where threads are switched, begin and are described; all 0 in a guest without threads."""

    switch_begin: int = 0
    switch_end: int = 0
    thread_entry: int = 0
    thread_table: int = 0
    thread_size: int = 0
    nr_slots: int = 0


@dataclass(frozen=True, slots=True)
class JumpWatch:
    """Where ``setjmp()`` and ``longjmp()`` are; all 0 in a guest without them."""

    setjmp_begin: int = 0
    setjmp_end: int = 0
    longjmp_begin: int = 0
    longjmp_end: int = 0


def find_vectors(image: Image) -> list[int]:
    """Addresses at which the guest's exceptions begin."""
    machine = image.isa.machine
    start = image.symbols.get(machine.vectors_symbol)
    return [] if start is None else [start + offset for offset in machine.vector_offsets]


def find_marks(image: Image) -> dict[int, str]:
    """The instructions that mask interrupts in the functions of `MARKED`, and which of these.

    An interrupt is traced before the event if it comes before this instruction, and behind it
    otherwise.
    """
    marks = {}
    for function in image.functions:
        if function.name in MARKED:
            at = function.address
            for instruction in image.isa.split(image.read(function.address, function.size)):
                if image.isa.machine.masks_interrupts(instruction):
                    marks[at] = function.name
                at += len(instruction)
    return marks


def find_threads(image: Image) -> ThreadWatch:
    """How to follow the guest's threads, from its symbols and debug information."""
    symbols = image.symbols
    if not {SWITCH, THREAD_ENTRY, "threads"} <= set(symbols):
        return ThreadWatch()
    switch = image.function_at(symbols[SWITCH])
    try:
        count = thread_count(image)
    except HarnessError:
        return ThreadWatch()
    if switch is None:
        return ThreadWatch()
    return ThreadWatch(
        switch_begin=switch.address,
        switch_end=switch.address + switch.size,
        thread_entry=symbols[THREAD_ENTRY],
        thread_table=symbols["threads"],
        thread_size=image.structures.struct("thread_info").size,
        nr_slots=count,
    )


def find_jumps(image: Image) -> JumpWatch:
    """Where the guest's ``setjmp()`` and ``longjmp()`` are."""
    found = {function.name: function for function in image.functions}
    ends = {}
    for name in {"setjmp", "longjmp"} & set(found):
        function = found[name]
        ends[f"{name}_begin"] = function.address
        ends[f"{name}_end"] = function.address + function.size
    return JumpWatch(**ends)
