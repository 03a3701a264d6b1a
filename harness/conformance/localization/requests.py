# SPDX-License-Identifier: MIT
"""What a request of a patching function is about, and what it has to leave in the text."""

from harness.conformance.under_test.actions import INIT_NOP, MAKE_NOP
from harness.conformance.under_test.bench import Bench
from harness.errors import GuestError, RangeError
from harness.isa import Form, SiteState
from harness.tracer.setup import Hooks
from harness.tracer.slots import GRAPH_SLOT, NO_TRACER, NOP_OPS, has_call_ops, slot_code

UPDATE = "ftrace_update_ftrace_func"
ENABLE, DISABLE = (f"ftrace_{verb}_ftrace_graph_caller" for verb in ("enable", "disable"))

RECORD = {
    INIT_NOP: 1,
    MAKE_NOP: 1,
    "ftrace_make_call": 0,
    "ftrace_modify_call": 0,
}
"""The index of the argument ``struct dyn_ftrace *``."""

TARGET = {"ftrace_make_call": 1, "ftrace_modify_call": 2}
"""The index of the argument that the site has to call afterwards."""


def target_of(bench: Bench, function: str, registers: dict[str, int]) -> int | None:
    """What a site has to call after a call with these registers; None if nothing."""
    if function not in TARGET:
        return None
    return registers[bench.isa.abi.argument_registers[TARGET[function]]] & bench.isa.mask


def site_of(bench: Bench, function: str, registers: dict[str, int]) -> int:
    """``ip`` of the record that a function of `RECORD` is called with."""
    isa, ip = bench.isa, bench.port.record.member("ip")
    record = registers[isa.abi.argument_registers[RECORD[function]]] & isa.mask
    return bench.word_at(record + ip.offset) & isa.mask


def right_text(bench: Bench, function: str, registers: dict[str, int], watched: range) -> bytes:
    """What the watched text has to be after a request for a known site; empty if it is unknown.

    ``registers`` are those of its arguments.
    """
    if function not in RECORD:
        return _right_slot(bench, function, registers, watched)
    ip = site_of(bench, function, registers)
    site = next((site for site in bench.image.sites if site.ip == ip), None)
    if site is None:
        return b""
    target = target_of(bench, function, registers)
    state = SiteState.NOP if target is None else SiteState.CALL
    try:
        code = bench.isa.sites.code_for(site, state, target or 0)
    except RangeError:
        return b""
    if site.form is Form.LONG_CALL and state is SiteState.CALL:
        # The port may have changed more of the sequence than its first word.
        code += site.as_built[len(code) : bench.sites.size(site)]
    now = bench.read_memory(watched.start, len(watched))
    text = _replaced(now, site.address - watched.start, code)
    if not site.literal or function not in (INIT_NOP, MAKE_NOP):
        return text
    word = bench.image.address_of(NOP_OPS).to_bytes(bench.isa.word_size, bench.image.byteorder)
    return _replaced(text, site.literal - watched.start, word)


def _replaced(text: bytes, start: int, new: bytes) -> bytes:
    """A text with other bytes from an offset on, which it has."""
    return text[:start] + new + text[start + len(new) :] if start >= 0 else text


def _right_slot(bench: Bench, function: str, registers: dict[str, int], watched: range) -> bytes:
    """The same for a slot of a tracer, where that is all that the request changes."""
    image, isa = bench.image, bench.isa
    symbols, sites = image.symbols, isa.sites
    if sites.has_gate or has_call_ops(symbols) or function not in (UPDATE, ENABLE, DISABLE):
        return b""
    called = registers[isa.abi.argument_registers[0]] & isa.mask
    of_graph = function != UPDATE
    try:
        idle = isa.pointed_to(called) == isa.pointed_to(image.address_of(NO_TRACER))
        if function == DISABLE or (function == UPDATE and idle):
            code = slot_code(image, Hooks())
        else:
            code = sites.stub_code(symbols, None if of_graph else called, of_graph)
    except (RangeError, GuestError):
        return b""
    slot = symbols.get(GRAPH_SLOT if of_graph else "ftrace_call")
    known = {symbols.get("ftrace_call"), symbols.get(GRAPH_SLOT)}
    # With more slots, those of other stubs change too.
    if slot not in code or not set(code) <= known:
        return b""
    now = bench.read_memory(watched.start, len(watched))
    return _replaced(now, (slot & isa.mask) - watched.start, code[slot])
