# SPDX-License-Identifier: MIT
"""One traced call with every register known, through whatever the port has on its way.

The guest comes to a call site of its workload by itself.  There all registers that the site does
not use get patterns.  Every C function that the port then calls is let run to its end, and there
all that the ABI allows a function to leave changed is changed: registers, the callee's area in its
caller's frame, and the stack below.  So what the port does not save is lost for certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.conformance.bench import Bench
from harness.conformance.hang import Hang
from harness.conformance.switch import TRACER, Switch
from harness.errors import GdbError, GuestDied
from harness.isa import CallSite

GRAPH_ENTER = "function_graph_enter"
PREPARE = "prepare_ftrace_return"
HANDLER = "ftrace_return_to_handler"
LANDING = "return_to_handler"
CALLED = (TRACER, PREPARE, GRAPH_ENTER, HANDLER)
RESULTS = {GRAPH_ENTER, HANDLER}
"""Those of them whose result the port uses."""

ABOVE = 512
"""Bytes of the stack that have to stay what they are: the function's frame, and its caller's."""
BELOW = 1024
"""Bytes below the stack pointer that are nobody's, filled so that nothing can be found there."""

MOST_STOPS = 16
"""Entries and ends of C functions on one way; a sound port has six."""

AT_SITE, IN_CALL, AT_LANDING = 1, 2, 3
"""Numbers of sets of patterns."""

Registers = dict[str, int]


class NotReached(GuestDied):
    """The guest did not come to the call that was to be looked at."""


@dataclass(slots=True)
class TracedCall:
    """What was seen.  Places that were not come to are not there."""

    site: CallSite
    caller: int
    """Where the function was called from: what its return address was when it was entered."""
    before: Registers = field(default_factory=dict)
    """In front of the site."""
    above: bytes = b""
    called: dict[str, list[Registers]] = field(default_factory=dict)
    """At the entry of each C function that the port called."""
    place: int | None = None
    """What lies where function_graph_enter is told that the return address does, at that time."""
    returns: dict[str, list[int]] = field(default_factory=dict)
    """The innermost return addresses that an unwinder finds at the first entry of each of those."""
    behind: Registers = field(default_factory=dict)
    """Where the traced function goes on."""
    above_behind: bytes = b""
    landing: Registers = field(default_factory=dict)
    """At return_to_handler, after results have been made up."""
    above_landing: bytes = b""
    back: Registers = field(default_factory=dict)
    """Where the caller goes on."""
    above_back: bytes = b""

    def first(self, function: str) -> Registers:
        """Registers at the first entry of a C function."""
        return self.called[function][0]


def step_through(bench: Bench, site: CallSite, *, home: bool) -> TracedCall:
    """Go through a site that is switched as the check wants it.

    ``home``: go on until the function has returned to its caller.
    """
    call = TracedCall(*come_to(bench, site))
    lay_out(bench, call)
    _cross(bench, call)
    switch = Switch(bench)
    if home:
        if not switch.dynamic and LANDING in bench.image.symbols:
            # What the function calls would be hijacked too.
            switch.graph(False)
        _go_home(bench, call)
    return call


def come_to(bench: Bench, site: CallSite) -> tuple[CallSite, int]:
    """Bring the guest to a call site; that, and where the function will return to.

    `NotReached` if it dies or hangs on the way.
    """
    isa, debugger = bench.isa, bench.guest.debugger
    try:
        if site.function_address != debugger.read_register(isa.abi.pc_register) & isa.mask:
            bench.run_to(site.function_address)
    except GuestDied as error:
        raise NotReached(error.message, error.advice, error.evidence) from error
    caller = debugger.read_register(isa.abi.return_register) & isa.mask
    if site.address != site.function_address:
        bench.run_to(site.address)
    return site, caller


def free_registers(bench: Bench, site: CallSite) -> list[str]:
    """General registers that may hold anything in front of a site that the guest stands at.

    A frame pointer that the function has set up already is as dear to it as its stack pointer.
    """
    isa, values = bench.isa, bench.registers.read()
    pinned, stack = isa.abi.at_site(site.form).pinned, values[isa.abi.stack_register]
    every = (*isa.abi.scratch, *isa.abi.saved)
    return [name for name in every if name not in pinned and values[name] != stack]


def lay_out(bench: Bench, call: TracedCall) -> None:
    """Put patterns into the registers and below the stack, and note down what is there."""
    isa, abi = bench.isa, bench.isa.abi
    general = free_registers(bench, call.site)
    bench.registers.fill(general, (*abi.float_scratch, *abi.float_saved), AT_SITE)
    call.before = bench.registers.read()
    stack = call.before[isa.abi.stack_register]
    bench.guest.debugger.restore_memory(stack - BELOW, _noise(bench, BELOW))
    call.above = bench.guest.debugger.dump_memory(stack, ABOVE)


def _cross(bench: Bench, call: TracedCall) -> None:
    """From the site to the instruction behind it."""
    behind = bench.sites.resumes(call.site)
    _run(bench, call, behind, CALLED)
    call.behind = bench.registers.read()
    stack = call.before[bench.isa.abi.stack_register]
    call.above_behind = bench.guest.debugger.dump_memory(stack, ABOVE)


def _go_home(bench: Bench, call: TracedCall) -> None:
    """From behind the site to where the function was called from."""
    isa, abi, debugger = bench.isa, bench.isa.abi, bench.guest.debugger
    symbols = bench.image.symbols
    landing = symbols.get(LANDING)
    places = [call.caller] if landing is None else [call.caller, landing]
    here = bench.run_to(*places)
    if here == landing:
        bench.registers.fill(abi.results, abi.float_results, AT_LANDING)
        call.landing = bench.registers.read()
        stack = call.landing[isa.abi.stack_register]
        debugger.restore_memory(stack - BELOW, _noise(bench, BELOW))
        call.above_landing = debugger.dump_memory(stack, ABOVE)
        _run(bench, call, call.caller, (HANDLER,))
    call.back = bench.registers.read()
    stack = (call.landing or call.back)[isa.abi.stack_register]
    call.above_back = debugger.dump_memory(stack, ABOVE)


def _run(bench: Bench, call: TracedCall, goal: int, functions: Sequence[str]) -> None:
    """Run to ``goal``; at the end of each C function on the way do what functions may do."""
    symbols, isa = bench.image.symbols, bench.isa
    entries = {symbols[name]: name for name in functions if name in symbols}
    returns: dict[int, str] = {}
    stops = 0
    while (here := bench.run_to(goal, *entries, *returns)) != goal:
        stops += 1
        if stops > MOST_STOPS:
            place = bench.image.symbolize(goal)
            raise Hang(f"the guest goes in circles and does not come to {place}", "", bench.where())
        if here in entries:
            registers = bench.registers.read()
            call.called.setdefault(entries[here], []).append(registers)
            if entries[here] == GRAPH_ENTER and call.place is None:
                call.place = _word_at_place(bench, registers)
            call.returns.setdefault(entries[here], _frame_records(bench, registers))
            returns[registers[isa.abi.return_register] & isa.mask] = entries[here]
        else:
            clobber(bench, returns.pop(here))


def _word_at_place(bench: Bench, registers: Registers) -> int | None:
    """The word at retp, the fourth argument; None where there is no memory."""
    isa = bench.isa
    try:
        value = bench.word_at(registers[isa.abi.argument_registers[3]] & isa.mask)
    except GdbError:
        return None
    return isa.machine.plain_address(value)


def _frame_records(bench: Bench, registers: Registers) -> list[int]:
    """Return addresses from frame records, where the ABI has such; as many as can be read."""
    isa, order = bench.isa, bench.image.byteorder
    found: list[int] = []
    head = isa.abi.frame_record
    pointer = registers[head.register] if head else 0
    while head and pointer and len(found) < 3:
        try:
            data = bench.read_memory(pointer + head.offset, 2 * isa.word_size)
        except GdbError:
            break
        pointer = int.from_bytes(data[: isa.word_size], order)
        address = int.from_bytes(data[isa.word_size :], order)
        found.append(isa.machine.plain_address(address))
    return found


def clobber(bench: Bench, function: str) -> None:
    """A C function is just back: change what it was allowed to change."""
    isa, abi = bench.isa, bench.isa.abi
    kept = abi.results[:1] if function in RESULTS else ()
    # The kernel's C code has no floating point; what is called on the way out is not the kernel's.
    floating_point = bench.kernel.floating_point and function == HANDLER
    floats = abi.float_scratch if floating_point else ()
    bench.registers.fill([name for name in abi.scratch if name not in kept], floats, IN_CALL)
    stack = bench.registers.read()[isa.abi.stack_register]
    below = 256
    debugger = bench.guest.debugger
    debugger.restore_memory(stack - below, _noise(bench, below + abi.home_area))


def _noise(bench: Bench, size: int) -> bytes:
    word = bench.isa.word_size
    words = [bench.registers.pattern(7, index) for index in range(size // word)]
    return b"".join(value.to_bytes(word, bench.isa.byteorder) for value in words)
