# SPDX-License-Identifier: MIT
"""The contents of the guest's slots and pointers for a kind of tracing.

A port has a slot for the function tracer and one for the graph tracer, or, with
DYNAMIC_FTRACE_WITH_ARGS, a single one.  There each tracer is a ``struct ftrace_ops`` of the guest
(guests/kernel/include/linux/ftrace_ops.h), and the slot calls the function of the only one, or
``ftrace_ops_list_func``, which calls those of all.  With DYNAMIC_FTRACE_WITH_REGS alone a port may
have such a slot and one for the graph tracer, which is no ops then.  With
DYNAMIC_FTRACE_WITH_CALL_OPS there is no slot: each call site has the address of an ops in its
literal.
"""

from collections.abc import Container, Sequence
from itertools import pairwise

from harness.image import Image
from harness.tracer.setup import GRAPH_FUNC, Hooks

LIST_FUNC = "ftrace_ops_list_func"
NOP_OPS, LIST_OPS = "ftrace_nop_ops", "ftrace_list_ops"
NO_TRACER = "ftrace_stub"
GRAPH_SLOT = "ftrace_graph_call"

_LIST, _END, _PASSED = "ftrace_ops_list", "ftrace_list_end", "function_trace_op"
_FUNCTION, _GRAPH = "global_ops", "graph_ops"


def has_ops(symbols: Container[str]) -> bool:
    """Whether the tracers of a guest with these symbols are a list of ops."""
    return LIST_FUNC in symbols


def has_one_slot(symbols: Container[str]) -> bool:
    """Whether a guest with these symbols has one slot for all tracers, the graph tracer too."""
    return has_ops(symbols) and GRAPH_SLOT not in symbols


def has_call_ops(symbols: Container[str]) -> bool:
    """Whether a guest with these symbols has an ops for each site, and no slot at all."""
    return NOP_OPS in symbols


def literal_of(image: Image, hooks: Hooks | None) -> bytes:
    """The literal of a site that is on; of a site that is off for None."""
    if hooks is None or not (hooks.function or hooks.graph):
        name = NOP_OPS
    elif hooks.function and hooks.graph:
        name = LIST_OPS
    else:
        name = _GRAPH if hooks.graph else _FUNCTION
    return image.address_of(name).to_bytes(image.isa.word_size, image.byteorder)


def slot_function(image: Image, hooks: Hooks) -> str | None:
    """The function that ``ftrace_call`` calls; None for none."""
    if not has_one_slot(image.symbols) or not hooks.graph:
        return hooks.function
    return LIST_FUNC if hooks.function else GRAPH_FUNC


def slot_code(image: Image, hooks: Hooks) -> dict[int, bytes]:
    """The instructions of the port's slots, by address; as of `Sites.stub_code`.

    Without a tracer the slot is as built: a nop, or a call of ``ftrace_stub`` as in Linux.
    """
    if has_call_ops(image.symbols):
        return {}
    function, sites = slot_function(image, hooks), image.isa.sites
    graph = bool(hooks.graph) and not has_one_slot(image.symbols)
    if function is not None:
        return sites.stub_code(image.symbols, image.address_of(function), graph)
    idle = sites.stub_code(image.symbols, image.address_of(NO_TRACER), graph)
    slot = image.address_of("ftrace_call")
    if image.read(slot, len(idle[slot])) == idle[slot]:
        return idle
    return sites.stub_code(image.symbols, None, graph)


def pointers(image: Image, hooks: Hooks) -> dict[int, bytes]:
    """The words of the kernel that belong to the hooks, by address."""
    graph = hooks.graph
    wanted = {
        "ftrace_trace_function": hooks.function or NO_TRACER,
        "ftrace_graph_return": f"{graph}_graph_return" if graph else NO_TRACER,
        "ftrace_graph_entry": f"{graph}_graph_entry" if graph else "ftrace_graph_entry_stub",
    }
    found = {
        image.symbols[pointer]: image.pointer_to(function)
        for pointer, function in wanted.items()
        if pointer in image.symbols
    }
    if has_ops(image.symbols):
        found |= _list(image, hooks)
    size, order = image.isa.word_size, image.byteorder
    return {address: value.to_bytes(size, order) for address, value in found.items()}


def link_ops(image: Image, chosen: Sequence[int]) -> dict[int, int]:
    """The words for these ops in ``ftrace_ops_list``, and what the stub hands over.

    That is the only one, or the end of the list.  An ops that is off keeps its link, for a CPU that
    is at it.
    """
    link = image.structures.struct("ftrace_ops").member("next").offset
    addresses = [*chosen, image.address_of(_END)]
    only = addresses[0] if len(chosen) == 1 else addresses[-1]
    found = {image.address_of(_LIST): addresses[0], image.address_of(_PASSED): only}
    return found | {ops + link: behind for ops, behind in pairwise(addresses)}


def _list(image: Image, hooks: Hooks) -> dict[int, int]:
    """The ops of the hooks, with the function tracer's function."""
    graph = bool(hooks.graph) and has_one_slot(image.symbols)
    chosen = [_FUNCTION] * bool(hooks.function) + [_GRAPH] * graph
    found = link_ops(image, [image.address_of(name) for name in chosen])
    if hooks.function:
        func = image.structures.struct("ftrace_ops").member("func").offset
        found[image.address_of(_FUNCTION) + func] = image.pointer_to(hooks.function)
    return found
