# SPDX-License-Identifier: MIT
"""System calls of a program in user mode, guests/user/calls.c."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from harness.conformance.localization.answers import locate_answer, locate_decision, locate_write
from harness.conformance.localization.decisions import last_decision
from harness.conformance.places import ENTERED, LEFT, last_place
from harness.conformance.registry import BOTH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.single_step import steps_to
from harness.conformance.verdict import LAST, Layer, Place
from harness.debugger import return_address
from harness.trace import TraceEvent
from harness.tracer.threads import SYSCALL_TRACEPOINT, ThreadControl

TRACED = ("SYSCALL_TRACEPOINTS",)

PROGRAM, STATUS = "calls", 42
"""The program, and its exit status if every system call has had the right result."""

CALLS = (
    *(["write"] * 5),
    *("sched_yield", "clock_gettime", "nanosleep", "clock_gettime", "clock_gettime", "nanosleep"),
    *(["mmap"] * 3),
)
"""Its system calls except the first three, which the compiler may reorder, and except the invalid
ones; then it ends."""

FIRST, UNKNOWN = 3, 4

WRITTEN = (28, 0, -9, -14, -14)
MAPPED = (-12, -22, -9)
"""The results of write and mmap, call by call: numbers of bytes, and errors."""

TRACEPOINTS = {ENTERED: "trace_sys_enter", LEFT: "trace_sys_exit"}
"""The kernel's function that each function of the port's calls."""

OTHER_WORK = 0x200
"""A thread flag that the guest's kernel does not use: another reason for the slow path."""

ENTRIES, EXITS = "entries of system calls", "exits of system calls"
RESULTS, NO_NUMBERS = "results of system calls", "numbers of no system calls"
FUNCTIONS, NAMES = "functions of system calls", "names of system calls"
"""Subjects of failures."""


@dataclass(frozen=True, slots=True)
class SyscallMetadata:
    """A system call, from the guest's metadata."""

    name: str
    symbol: str
    number: int
    function: int
    index: int
    """Its index in sys_call_table."""


def calls_of(bench: Bench) -> list[SyscallMetadata]:
    """The system calls with metadata, and their functions from the table."""
    image, word = bench.image, bench.isa.word_size
    start, stop = (image.address_of(f"__{end}_syscalls_metadata") for end in ("start", "stop"))
    layout = image.structures.struct("syscall_metadata")
    raw = bench.guest.debugger.dump_memory(start, stop - start)
    at = image.address_of("sys_call_table")
    table = image.read(at, table_size(bench))
    places: dict[int, int] = {}
    for place in range(len(table) // word):
        function = int.from_bytes(table[place * word : (place + 1) * word], image.byteorder)
        places.setdefault(function, place)
    found = []
    for one in range(0, len(raw), layout.size):
        name, symbol = (layout.member(key).text(raw, one).decode() for key in ("name", "symbol"))
        number, function = (layout.member(key).number(raw, one) for key in ("nr", "function"))
        found.append(SyscallMetadata(name, symbol, number, function, places[function]))
    return found


def table_size(bench: Bench) -> int:
    """Bytes of sys_call_table."""
    start = bench.image.address_of("sys_call_table")
    return min(end for end in bench.image.symbols.values() if end > start) - start


def _strings(bench: Bench, *texts: str) -> list[int]:
    """Write texts far down the guest's stack; the address of each."""
    start = (bench.registers.value(bench.isa.abi.stack_register) - 0x4000) & -16
    data = [text.encode() + b"\0" for text in texts]
    bench.guest.debugger.restore_memory(start, b"".join(data))
    return [start + len(b"".join(data[:at])) for at in range(len(data))]


def _run(bench: Bench, *until: str) -> int:
    """Start the program, and run it to its end or to one of these functions; returns which."""
    bench.enter(bench.image.address_of("run_user_program"), *_strings(bench, PROGRAM))
    return bench.run_to(*(until or (CALL_RETURNS,)))


def _events(bench: Bench, clauses: tuple[str, ...]) -> list[TraceEvent]:
    """Run the program to its end, and check its exit status."""
    if bench.guest.debugger.read_register(bench.isa.abi.pc_register) != _end(bench):
        bench.run_to(CALL_RETURNS)
    status = bench.registers.value(bench.isa.abi.results[0]) & 0xFF
    for clause in clauses:
        bench.require(clause, status == STATUS, f"traced, the program's system call {status} fails")
    return list(bench.guest.tracer.events())


def _end(bench: Bench) -> int:
    return bench.image.symbols[CALL_RETURNS] & bench.isa.mask


@check("C13d", "C13e", variants=BOTH, features=TRACED, layer=Layer.CALL)
def every_system_call_is_entered_and_left(bench: Bench) -> None:
    """The events of a program's system calls: numbers, arguments and results."""
    bench.fresh()
    numbers = {call.name.removeprefix("sys_"): call.index for call in calls_of(bench)}
    bench.guest.tracer.set_event("raw_syscalls")
    with bench.fail_if_guest_dies("C13d", "C13e"):
        _run(bench)
        events = _events(bench, ("C13d", "C13e"))
    enters = [event for event in events if event.name == "sys_enter"]
    leaves = [event for event in events if event.name == "sys_exit"]
    shown = [str(event) for event in events[:12]]
    ids = [_number(event) for event in enters]
    names, base = {place: name for name, place in numbers.items()}, bench.isa.abi.first_syscall
    found = [names.get(number - base, "") for number in ids[FIRST:]]
    expected = [*CALLS, *([""] * UNKNOWN), "exit"]
    told = {"expected": expected, "found": found, "events": shown}
    message = "the entries are not the system calls that the program makes"
    number = partial(_told, bench, ENTERED)
    entered = bench.require("C13d", found == expected, message, number, ENTRIES, **told)
    # What is not recorded has no arguments and no exit.
    about = "" if entered else ENTRIES
    mask = bench.isa.mask
    given = [event.fields["args"] for event in enters if _is(event, names, base, "mmap")]
    wanted = [
        (0x10000, 0x2000, 3, 0x22, mask, 0),
        (0x10001, 0x2000, 3, 0x22, mask, 0),
        (0x10000, 0x2000, 3, 0x22, 5, 0),
    ]
    bench.require(
        "C13d",
        given == wanted,
        "the arguments of mmap are others",
        None,
        about,
        expected=[str(one) for one in wanted],
        found=[str(one) for one in given],
    )
    kinds = [event.name for event in events]
    right = kinds == ["sys_enter", "sys_exit"] * len(leaves) + ["sys_enter"]
    message = "entry and exit do not take turns"
    at_exit = partial(_decided, bench, LEFT, LEFT)
    if not bench.require("C13e", right, message, at_exit, about or EXITS, events=shown):
        about = about or EXITS
    pairs = zip(enters, leaves, strict=False)
    wrong = [str(leave) for enter, leave in pairs if _number(enter) != _number(leave)]
    message = "an exit is of another system call"
    bench.require("C13e", not wrong, message, None, about, events=wrong[:6])
    result = cache(partial(_told, bench, LEFT))
    for name, results in (("write", WRITTEN), ("mmap", MAPPED)):
        got = tuple(event.fields["ret"] for event in leaves if _is(event, names, base, name))
        message = f"the results of {name} are others"
        same = got == results
        of = about or RESULTS
        bench.require("C13e", same, message, result, of, expected=str(results), found=str(got))


def _told(bench: Bench, function: str) -> Place | None:
    """Where a function of the port's made what it tells its tracepoint: the second argument.

    Or where it decided to tell it nothing.
    """
    if function not in bench.image.symbols:
        return None
    _come_to(bench, function)
    register = bench.isa.abi.argument_registers[1]
    tracepoint = bench.image.address_of(TRACEPOINTS[function])
    return locate_write(bench, register, tracepoint) or _decided(bench, function, function)


def _come_to(bench: Bench, function: str) -> None:
    """Run the program, with its system calls traced, to a function."""
    bench.fresh()
    bench.guest.tracer.set_event("raw_syscalls")
    _run(bench, function)


def _decided(bench: Bench, place: str, function: str, taken: int = 0) -> Place | None:
    """The last decision of a function of the port's before its tracepoint, or before its end.

    The thread loses the flags ``taken`` at ``place``, and gets `OTHER_WORK` then.
    """
    _come_to(bench, place)
    if taken:
        ThreadControl(bench.image, bench.guest.debugger).change_flags(OTHER_WORK, taken)
    if place != function:
        bench.run_to(function)
    tracepoint = bench.image.address_of(TRACEPOINTS[function])
    executed = steps_to(bench, tracepoint, return_address(bench.guest.debugger, bench.isa.abi))
    last = last_place(bench.image, executed, LAST)
    return last_decision(bench, executed, "decided last what is reported") or last


def _number(event: TraceEvent) -> int:
    number = event.fields["id"]
    assert isinstance(number, int)
    return number


def _is(event: TraceEvent, names: dict[int, str], base: int, name: str) -> bool:
    return names.get(_number(event) - base) == name


@check("C13c", variants=BOTH, features=TRACED, layer=Layer.CALL)
def the_flag_of_the_thread_decides(bench: Bench) -> None:
    """No event without TIF_SYSCALL_TRACEPOINT, which is cleared at three places on the slow path.

    Another flag is set instead: the slow path must test this flag.
    """
    for place, function, expected in (
        (ENTERED, ENTERED, []),
        (TRACEPOINTS[ENTERED], LEFT, ["sys_enter"]),
        (LEFT, LEFT, ["sys_enter"]),
    ):
        if place not in bench.image.symbols:
            continue
        bench.fresh()
        bench.guest.tracer.set_event("raw_syscalls")
        with bench.fail_if_guest_dies("C13c"):
            _run(bench, place)
            threads = ThreadControl(bench.image, bench.guest.debugger)
            threads.change_flags(OTHER_WORK, SYSCALL_TRACEPOINT)
            events = _events(bench, ("C13c",))
        bench.require(
            "C13c",
            [event.name for event in events] == expected,
            f"the thread's flag was taken away at {place}",
            partial(_decided, bench, place, function, SYSCALL_TRACEPOINT),
            expected=expected,
            found=[str(event) for event in events[:8]],
        )


@check("C13c", variants=BOTH, features=TRACED, layer=Layer.CALL)
def threads_without_the_flag_stay_on_the_fast_path(bench: Bench) -> None:
    """Without the flag the slow path is not executed."""
    slow = [name for name in (ENTERED, LEFT) if name in bench.image.symbols]
    bench.fresh()
    with bench.fail_if_guest_dies("C13c"):
        here = _run(bench, CALL_RETURNS, *slow)
    where = bench.image.symbolize(here)
    bench.require("C13c", here == _end(bench), f"without an event a system call came to {where}")


def _other_numbers(bench: Bench, calls: Sequence[SyscallMetadata]) -> None:
    """No function for numbers on both sides of the table, and at the ends of ``int``.

    For this check there is one on both sides of the table, in case the port reads there.
    """
    base, functions = bench.isa.abi.first_syscall, {call.function for call in calls}
    # The table ends with the system call of the highest number.
    behind = base + max(call.index for call in calls) + 1
    word, table = bench.isa.word_size, bench.image.address_of("sys_call_table")
    ends = (table - word, table + (behind - base) * word)
    beside = {at: bench.read_memory(at, word) for at in ends}
    for at in beside:
        bench.write_memory(at, calls[0].function.to_bytes(word, bench.image.byteorder))
    for number in dict.fromkeys((-1, base - 1, behind, -(1 << 31), (1 << 31) - 1)):
        with bench.fail_if_guest_dies("C13f"):
            address = bench.call_for_word(
                bench.image.address_of("arch_syscall_addr"), number & bench.isa.mask
            )
        bench.require(
            "C13f",
            address not in functions,
            f"arch_syscall_addr({number}) is the function of a system call",
            partial(_taken, bench, number & bench.isa.mask),
            NO_NUMBERS,
            found=bench.image.symbolize(address),
        )
    for at, held in beside.items():
        bench.write_memory(at, held)


def _taken(bench: Bench, number: int, *, decided: bool = True) -> Place | None:
    """Where the port took a number for one of a system call, or for none, or made its answer."""
    request = "arch_syscall_addr", number
    place = locate_decision(bench, *request) if decided else None
    return place or locate_answer(bench, *request)


@check("C13f", "C13g", variants=BOTH, features=TRACED, layer=Layer.CALL)
def functions_and_names_of_system_calls(bench: Bench) -> None:
    """arch_syscall_addr() and arch_syscall_match_sym_name() against the table and its symbols."""
    bench.fresh()
    calls, base = calls_of(bench), bench.isa.abi.first_syscall
    for call in calls:
        with bench.fail_if_guest_dies("C13f"):
            address = bench.call_for_word(
                bench.image.address_of("arch_syscall_addr"), base + call.index
            )
        right = bench.require(
            "C13f",
            address == call.function,
            f"arch_syscall_addr({base + call.index}) is not {call.symbol}",
            partial(_taken, bench, base + call.index, decided=not address),
            FUNCTIONS,
            expected=f"{call.function:#x}",
            found=f"{address:#x} {bench.image.symbolize(address)}",
        )
        # The kernel looks for a name among the symbols of these addresses.
        bench.require(
            "C13g",
            call.number == base + call.index,
            f"{call.symbol} was not found to be {call.name}: number {call.number}",
            None,
            NAMES if right else FUNCTIONS,
        )
    if bench.kernel.syscall_numbers == "any":
        _other_numbers(bench, calls)
    match = "arch_syscall_match_sym_name"
    if match not in bench.image.symbols:
        # The kernel's own comparison, if the port does not replace it.
        return
    pairs = [
        (symbol.symbol, name.name, symbol is name)
        for call, other in zip(calls, [*calls[1:], calls[0]], strict=True)
        for symbol, name in ((call, call), (call, other))
    ]
    own, called = calls[0].symbol, calls[0].name
    # Names of no system call: too long, too short, or with another prefix.
    pairs += [(own + "2", called, False), (own[:-1], called, False), (own, called + "2", False)]
    if own != called:
        pairs += [("x" + own[1:], called, False), (called, called, False)]
    for symbol, name, belong in pairs:
        with bench.fail_if_guest_dies("C13g"):
            strings = _strings(bench, symbol, name)
            answer = bench.call(bench.image.address_of(match), *strings)
        bench.require(
            "C13g",
            bool(answer & 0xFF) == belong,
            f"{match}({symbol}, {name}) is {answer & 0xFF}",
            partial(locate_answer, bench, match, *strings),
            NAMES,
        )
