# SPDX-License-Identifier: MIT
"""One traced call with every register known, through the stubs and the port's C code.

The guest runs to a call site of its workload.  There all registers that the site does not use get
patterns.  At the end of every C function that the port calls, all that a function may change by the
ABI is overwritten: registers, the callee's area in its caller's frame, and the stack below.  So a
register that the port does not save is certainly lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.hang import Hang
from harness.conformance.under_test.switch import TRACER, Switch
from harness.debugger import return_address
from harness.errors import GdbError, GuestDied
from harness.image import Image
from harness.isa import CallSite

GRAPH_ENTER = "function_graph_enter"
PREPARE = "prepare_ftrace_return"
GRAPH_FUNC = "ftrace_graph_func"
HANDLER = "ftrace_return_to_handler"
LANDING = "return_to_handler"
SELFTEST = "ftrace_selftest_func"
CALLED = (TRACER, SELFTEST, PREPARE, GRAPH_FUNC, GRAPH_ENTER, HANDLER)
RESULTS = {GRAPH_ENTER, HANDLER}
"""The C functions whose result the port uses."""

ABOVE = 512
"""Bytes of the stack that must stay unchanged: the frames of the function and its caller."""
BELOW = 1024
"""Bytes below the stack pointer, which are unused; they are overwritten."""

MOST_STOPS = 16
"""The most entries and ends of C functions on one path; a correct port has six."""

MOST_RECORDS = 5
"""The most frame records that are followed."""

AT_SITE, IN_CALL, AT_LANDING, BELOW_STACK = 1, 2, 3, 7
"""The numbers of the sets of patterns."""

Registers = dict[str, int]


def prepare_of(image: Image) -> str:
    """The port's function that replaces return addresses: with one slot, that of an ops."""
    return GRAPH_FUNC if GRAPH_FUNC in image.symbols else PREPARE


class NotReached(GuestDied):
    """The guest did not reach the call under test."""


@dataclass(slots=True)
class TracedCall:
    """The observations.  Places that were not reached are missing."""

    site: CallSite
    caller: int
    """The return address of the function at its entry."""
    caller_at: int | None = None
    """Where the call of the function has left it on the stack; None if a register has it."""
    before: Registers = field(default_factory=dict)
    """Before the site."""
    outer: list[int] = field(default_factory=list)
    """The return addresses that an unwinder finds before the site."""
    above: bytes = b""
    called: dict[str, list[Registers]] = field(default_factory=dict)
    """At the entry of each C function that the port called."""
    returns_to: dict[str, int] = field(default_factory=dict)
    """The return address at the first entry of each."""
    place: int | None = None
    """The word at retp, at the entry of function_graph_enter."""
    returns: dict[str, list[int]] = field(default_factory=dict)
    """The innermost return addresses that an unwinder finds at the first entry of each of these."""
    behind: Registers = field(default_factory=dict)
    """After the site."""
    above_behind: bytes = b""
    landing: Registers = field(default_factory=dict)
    """At return_to_handler, after patterns have been written to the result registers."""
    above_landing: bytes = b""
    linked: list[int] = field(default_factory=list)
    """The return addresses that an unwinder finds there by frame records."""
    back: Registers = field(default_factory=dict)
    """Where the caller continues."""
    above_back: bytes = b""

    def first(self, function: str) -> Registers:
        """Registers at the first entry of a C function."""
        return self.called[function][0]


def step_through(bench: Bench, call: TracedCall, *, home: bool, ended: bool = False) -> None:
    """Step through the site of a new call, which the check has switched.

    ``home``: continue until the function has returned to its caller; ``ended``: the graph tracer
    is off before that.
    """
    lay_out(bench, call)
    _cross(bench, call)
    switch = Switch(bench)
    if home:
        if LANDING in bench.image.symbols and (ended or not switch.dynamic):
            # In a static build functions that it calls would be hijacked too.
            switch.graph(False)
        _go_home(bench, call)


def come_to(bench: Bench, site: CallSite) -> TracedCall:
    """Run the guest to a call site; returns the new call.

    `NotReached` if it dies or hangs before.
    """
    isa, debugger = bench.isa, bench.guest.debugger
    try:
        if site.function_address != debugger.read_register(isa.abi.pc_register) & isa.mask:
            bench.run_to(site.function_address)
    except GuestDied as error:
        raise NotReached(error.message, error.advice, error.evidence) from error
    caller = return_address(debugger, isa.abi)
    caller_at = isa.abi.return_place(debugger.read_register(isa.abi.stack_register))
    if site.address != site.function_address:
        bench.run_to(site.address)
    return TracedCall(site, caller, caller_at)


def free_registers(bench: Bench, site: CallSite) -> list[str]:
    """General registers that may have any value at the site where the guest is stopped.

    Not the frame pointer, if the function has set it already.
    """
    isa = bench.isa
    pinned, stack_register = isa.abi.at_site(site.form).pinned, isa.abi.stack_register
    every = (*isa.abi.scratch, *isa.abi.saved)
    values = bench.registers.read(*every, stack_register)
    stack = values[stack_register]
    return [name for name in every if name not in pinned and values[name] != stack]


def lay_out(bench: Bench, call: TracedCall) -> None:
    """Write patterns to the registers and below the stack pointer, and record the state."""
    isa, abi = bench.isa, bench.isa.abi
    general = free_registers(bench, call.site)
    bench.registers.fill(general, (*abi.float_scratch, *abi.float_saved), AT_SITE)
    if bench.kernel.floating_point:
        # Other bits may be read-only.
        status = bench.registers.read(*abi.float_status)
        bench.registers.write({n: status[n] | bits for n, bits in abi.float_status.items()})
    call.before = bench.registers.read()
    call.outer = frame_records(bench, call.before)
    stack = call.before[isa.abi.stack_register]
    overwrite_below(bench, stack)
    call.above = bench.guest.debugger.dump_memory(stack, ABOVE)


def overwrite_below(bench: Bench, stack: int) -> None:
    """Write patterns below the stack pointer."""
    bench.guest.debugger.restore_memory(stack - BELOW, _noise(bench, BELOW))


def _cross(bench: Bench, call: TracedCall) -> None:
    """From the site to the instruction after it."""
    behind = bench.sites.resumes(call.site)
    _run(bench, call, behind, CALLED)
    call.behind = bench.registers.read()
    stack = call.before[bench.isa.abi.stack_register]
    call.above_behind = bench.guest.debugger.dump_memory(stack, ABOVE)


def _go_home(bench: Bench, call: TracedCall) -> None:
    """From there to the return address of the function."""
    isa, abi, debugger = bench.isa, bench.isa.abi, bench.guest.debugger
    symbols = bench.image.symbols
    landing = symbols.get(LANDING)
    places = [call.caller] if landing is None else [call.caller, landing]
    here = bench.run_to(*places)
    if here == landing:
        bench.registers.fill(abi.results, abi.float_results, AT_LANDING)
        call.landing = bench.registers.read()
        call.linked = frame_records(bench, call.landing)
        stack = call.landing[isa.abi.stack_register]
        overwrite_below(bench, stack)
        call.above_landing = debugger.dump_memory(stack, ABOVE)
        _run(bench, call, call.caller, (HANDLER,))
    call.back = bench.registers.read()
    stack = (call.landing or call.back)[isa.abi.stack_register]
    call.above_back = debugger.dump_memory(stack, ABOVE)


def _run(bench: Bench, call: TracedCall, goal: int, functions: Sequence[str]) -> None:
    """Run to ``goal``; at the end of each C function before it change all that it may change."""
    symbols, isa = bench.image.symbols, bench.isa
    entries = {symbols[name]: name for name in functions if name in symbols}
    returns: dict[int, str] = {}
    stops = 0
    while (here := bench.run_to(goal, on_the_way=(*entries, *returns))) != goal:
        stops += 1
        if stops > MOST_STOPS:
            place = bench.image.symbolize(goal)
            raise Hang(f"the guest goes in circles and does not come to {place}", "", bench.where())
        if here in entries:
            registers = bench.registers.read()
            call.called.setdefault(entries[here], []).append(registers)
            if entries[here] == GRAPH_ENTER and call.place is None:
                call.place = _word_at_place(bench, registers)
            call.returns.setdefault(entries[here], frame_records(bench, registers))
            back = return_address(bench.guest.debugger, isa.abi)
            call.returns_to.setdefault(entries[here], back)
            returns[back] = entries[here]
        else:
            clobber(bench, returns.pop(here))


def _word_at_place(bench: Bench, registers: Registers) -> int | None:
    """The word at retp, the fourth argument; None where there is no memory."""
    isa = bench.isa
    try:
        value = bench.word_at(registers[isa.abi.argument_registers[3]] & isa.mask)
    except GdbError:
        return None
    return isa.cpu.plain_address(value)


def frame_records(bench: Bench, registers: Registers) -> list[int]:
    """Return addresses from frame records, if the ABI has them; as many as can be read."""
    isa, order = bench.isa, bench.image.byteorder
    found: list[int] = []
    head = isa.abi.frame_record
    pointer = registers[head.register] if head else 0
    while head and pointer and len(found) < MOST_RECORDS:
        try:
            data = bench.read_memory(pointer + head.offset, 2 * isa.word_size)
        except GdbError:
            break
        pointer = int.from_bytes(data[: isa.word_size], order)
        address = int.from_bytes(data[isa.word_size :], order)
        found.append(isa.cpu.plain_address(address))
    return found


def clobber(bench: Bench, function: str) -> None:
    """A C function has just returned: overwrite all that it may change."""
    isa, abi = bench.isa, bench.isa.abi
    kept = abi.results[:1] if function in RESULTS else ()
    # Only a return handler may use floating point: the other C functions are the kernel's.
    floating_point = bench.kernel.floating_point and function == HANDLER
    floats = abi.float_scratch if floating_point else ()
    bench.registers.fill([name for name in abi.scratch if name not in kept], floats, IN_CALL)
    stack = bench.registers.value(isa.abi.stack_register)
    below, home = 256, bench.registers.home_words
    debugger = bench.guest.debugger
    debugger.restore_memory(stack - below, _noise(bench, below) + _bytes_of(bench, home))


def _noise(bench: Bench, size: int) -> bytes:
    return _bytes_of(bench, bench.registers.words(BELOW_STACK, size))


def _bytes_of(bench: Bench, words: Sequence[int]) -> bytes:
    word, order = bench.isa.word_size, bench.isa.byteorder
    return b"".join(value.to_bytes(word, order) for value in words)
