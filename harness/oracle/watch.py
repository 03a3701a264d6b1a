# SPDX-License-Identifier: MIT
"""Further addresses for the plugin: exceptions, threads, and the order of the events."""

from dataclasses import dataclass

from harness.errors import HarnessError
from harness.image import Image, thread_count

SWITCH = "__switch_to"
THREAD_ENTRY = "thread_entry"

MARKED = (
    *("function_trace_call", "function_graph_enter"),
    *("ftrace_return_to_handler", "graph_leave_untraced"),
)
"""Functions of the guest's tracer that mask interrupts to write an event, or, the last one, to pop
the stack of return addresses without an event.
"""


@dataclass(frozen=True, slots=True)
class ThreadWatch:
    """Addresses of context switches, thread entry and thread structures; all 0 without threads.

    Without ``nr_slots`` the structures lie anywhere, as those of a Linux kernel.
    """

    switch_begin: int = 0
    switch_end: int = 0
    thread_entries: tuple[int, ...] = ()
    thread_table: int = 0
    thread_size: int = 0
    nr_slots: int = 0


@dataclass(frozen=True, slots=True)
class JumpWatch:
    """Addresses of ``setjmp()`` and ``longjmp()``; all 0 without them."""

    setjmp_begin: int = 0
    setjmp_end: int = 0
    longjmp_begin: int = 0
    longjmp_end: int = 0


def find_vectors(image: Image) -> list[int]:
    """Addresses of the guest's exception vectors."""
    cpu = image.isa.cpu
    start = image.symbols.get(cpu.vectors_symbol)
    return [] if start is None else vectors_at(image, start)


def vectors_at(image: Image, start: int) -> list[int]:
    """Addresses of exception vectors that begin at ``start``."""
    return sorted(start + offset for offset in image.isa.cpu.vector_offsets)


def find_marks(image: Image) -> dict[int, str]:
    """The instructions that mask interrupts in the functions of `MARKED`, and these functions.

    An interrupt before this instruction is traced before the event, a later one after it.
    """
    marks = {}
    for function in image.functions:
        if function.name in MARKED:
            at = function.address
            for instruction in image.isa.split(image.read(function.address, function.size)):
                if image.isa.cpu.masks_interrupts(instruction):
                    marks[at] = function.name
                at += len(instruction)
    return marks


def find_threads(image: Image) -> ThreadWatch:
    """The addresses to follow the guest's threads, from symbols and debug information."""
    symbols = image.symbols
    linux_switch = set(image.isa.linux.switch)
    if linux_switch and linux_switch <= set(symbols):
        return _linux_threads(image)
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
        thread_entries=(symbols[THREAD_ENTRY],),
        thread_table=symbols["threads"],
        thread_size=image.structures.struct("thread_info").size,
        nr_slots=count,
    )


def _linux_threads(image: Image) -> ThreadWatch:
    name, *entries = image.isa.linux.switch
    switch = image.function_at(image.symbols[name])
    if switch is None:
        return ThreadWatch()
    return ThreadWatch(
        switch_begin=switch.address,
        switch_end=switch.address + switch.size,
        thread_entries=tuple(image.symbols[entry] for entry in entries),
    )


def find_jumps(image: Image) -> JumpWatch:
    """The addresses of the guest's ``setjmp()`` and ``longjmp()``."""
    found = {function.name: function for function in image.functions}
    ends = {}
    for name in {"setjmp", "longjmp"} & set(found):
        function = found[name]
        ends[f"{name}_begin"] = function.address
        ends[f"{name}_end"] = function.address + function.size
    return JumpWatch(**ends)
