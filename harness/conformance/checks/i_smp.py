# SPDX-License-Identifier: MIT
"""Call sites that one CPU switches while another executes them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from harness.conformance.registry import BOTH, GRAPH, check, several_cpus
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.hang import Hang
from harness.conformance.under_test.single_step import (
    MOST_STEPS,
    WAITING,
    prepare_call,
    single_step,
    site_calls,
    stores_of,
)
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import LANDING, Registers, prepare_of
from harness.conformance.under_test.ways import KERNEL
from harness.debugger import return_address
from harness.guest.answer import wrong_answer
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent

SITE = "leaf"
OTHER = 1
"""The CPU that executes changing text; CPU 0 changes it."""

THREAD = 1
"""gdb's number of CPU 0."""

AT_THE_END = 300
"""Instructions in which a port returns that waits for nobody behind its last store."""

ROUNDS = 8
"""How often the other CPU runs the workload."""

RIGHT = 0
"""The result of the workload."""

ARGUMENTS = (3, 5)
"""Arguments of SITE."""


def start_on_other(bench: Bench) -> int:
    """Start the workload again in a thread on the other CPU; returns the thread."""
    stack = bench.registers.value(bench.isa.abi.stack_register)
    name = (stack - 0x4000) & -16
    bench.guest.debugger.restore_memory(name, b"other\0")
    start, work = bench.image.address_of("kthread_run_on"), bench.image.pointer_to("workload")
    return bench.call_for_word(start, OTHER, work, 0, name)


def join(bench: Bench, thread: int) -> int:
    """Wait for the thread; returns its answer."""
    return bench.call(bench.image.address_of("kthread_join"), thread)


@check("C9i", "C9l", "C10c", lacks=several_cpus)
def text_changes_while_another_cpu_runs(bench: Bench) -> None:
    """One CPU runs the workload while the other repeatedly switches every site and both slots."""
    if not bench.kernel.PREEMPTION:
        return
    bench.fresh()
    switch = Switch(bench)
    clauses = ("C9i", "C9l", "C10c")
    with bench.fail_if_guest_dies(*clauses):
        for number in range(ROUNDS):
            thread = start_on_other(bench)
            for on in (True, False):
                if number % 2:
                    switch.tracer(on)
                    switch.sites(on)
                else:
                    switch.sites(on)
                    switch.tracer(on)
            answer = join(bench, thread)
            for clause in clauses:
                bench.require(
                    clause,
                    answer == RIGHT,
                    f"text changed under CPU {OTHER}: {wrong_answer(bench.image, answer)}",
                )


@check("C9i", "C9l", lacks=several_cpus)
def another_cpu_parked_at_each_word_of_a_site(bench: Bench) -> None:
    """One CPU is stopped at a word of a site while the other switches it, and then continues."""
    if not bench.kernel.PREEMPTION:
        return
    site = bench.sites.of(SITE)
    for on in (True, False):
        for place in range(len(bench.sites.places(site))):
            bench.fresh()
            call = prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)
            with bench.fail_if_guest_dies("C9i", "C9l"):
                with alone(bench, 0):
                    thread = start_on_other(bench)
                with alone(bench, OTHER):
                    bench.run_to(site.address)
                    for _ in range(place):
                        bench.guest.debugger.step_instruction()
                status = _call_beside(bench, call)
                answer = join(bench, thread)
            what = f"switched {'on' if on else 'off'} under CPU {OTHER} at its word {place}"
            for clause in ("C9i", "C9l"):
                bench.require(
                    clause,
                    status == 0 and answer == RIGHT,
                    f"a site was {what}: error {status}; {wrong_answer(bench.image, answer)}",
                )


@check("C9j", lacks=several_cpus)
def another_cpu_behind_the_breakpoint_at_the_end(bench: Bench) -> None:
    """One CPU executes what a site holds meanwhile, and handles it when the change has ended.

    A port that waits for that CPU does not return before.
    """
    if not bench.kernel.PREEMPTION or not bench.isa.sites.while_changed:
        return
    site = bench.sites.of(SITE)
    for on in (True, False):
        bench.fresh()
        call = prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)
        with bench.fail_if_guest_dies("C9j"):
            stores = list(stores_of(bench, bench.isa.sites.call_address(site), call))
        if not stores:
            # Clauses about the words of a site say so.
            bench.mark_unfinished()
            return
        last = stores[-1].executed[-1]
        number = [store.executed[-1] for store in stores].count(last)
        bench.fresh()
        call = prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)
        with bench.fail_if_guest_dies("C9j"):
            with alone(bench, 0):
                thread = start_on_other(bench)
            with alone(bench, OTHER):
                bench.run_to(site.address)
            # It has fetched nothing of the site, so nobody needs to wait for it yet.
            _set_others_online(bench, False)
            with alone(bench, 0):
                before = bench.enter(*call)
                _step_to(bench, call[0] & bench.isa.mask, last, number)
            _set_others_online(bench, True)
            bench.guest.debugger.step_instruction(THREAD + OTHER)
            with alone(bench, 0):
                ended = _ends_within(bench, AT_THE_END)
            if not ended:
                bench.run_to(CALL_RETURNS)
            status = _result(bench, before)
            answer = join(bench, thread)
        what = f"a site was switched {'on' if on else 'off'} while CPU {OTHER} came to it"
        bench.require(
            "C9j",
            status == 0 and answer == RIGHT,
            f"{what}: error {status}; {wrong_answer(bench.image, answer)}",
        )


def _set_others_online(bench: Bench, online: bool) -> None:
    """Whether CPU 0 sends requests to the other CPUs, and waits for their answers."""
    image = bench.image
    layout = image.structures.struct("cpu_info")
    member, start = layout.member("online"), image.address_of("cpu_info")
    data = int(online).to_bytes(member.size, image.byteorder)
    for cpu in range(1, image.size_of("cpu_info") // layout.size):
        bench.write_memory(start + cpu * layout.size + member.offset, data)


def _step_to(bench: Bench, here: int, address: int, number: int) -> None:
    """Step CPU 0 from ``here`` on until an instruction is the next one the ``number``th time."""
    for _ in range(MOST_STEPS):
        number -= here == address
        if not number:
            return
        here = single_step(bench, here, THREAD)
    raise Hang(f"{bench.image.symbolize(address)} was not come to again")


def _ends_within(bench: Bench, steps: int) -> bool:
    """Whether the call that runs on CPU 0 returns within so many instructions."""
    end = bench.image.address_of(CALL_RETURNS) & bench.isa.mask
    return any(
        bench.guest.debugger.step_instruction(THREAD).address & bench.isa.mask == end
        for _ in range(steps)
    )


@check("C4d", "C4g", "C5c", variants=BOTH, features=GRAPH, lacks=several_cpus)
def another_cpu_parked_in_the_graph_tracer(bench: Bench) -> None:
    """One CPU is stopped at each instruction of a hijack and of a hijacked return, while another
    one makes a hijacked call.
    """
    image, leaf = bench.image, bench.image.address_of(SITE)
    bench.fresh()
    right = bench.call(leaf, *ARGUMENTS)
    switch, site = Switch(bench), bench.sites.of(SITE)
    switch.graph(True)
    switch.sites(True)
    bench.guest.tracer.clear()
    calls = 0
    with bench.fail_if_guest_dies("C4d", "C4g", "C5c"), alone(bench, 0):
        thread = start_on_other(bench)
    for place in (prepare_of(bench.image), LANDING):
        number = 1
        while True:
            with bench.fail_if_guest_dies("C4d", "C4g", "C5c"):
                with alone(bench, OTHER):
                    bench.run_to(place)
                    end = return_address(bench.guest.debugger, bench.isa.abi)
                    here = _step(bench, number, end)
                # return_to_handler leaves for an address that only its call returns.
                left = image.function_at(here) != image.function_at(image.address_of(place))
                if here == end & bench.isa.mask or (place == LANDING and left):
                    break
                with alone(bench, 0):
                    answer = bench.call(leaf, *ARGUMENTS)
            calls, number = calls + 1, number + 1
            for clause in ("C4d", "C5c"):
                bench.require(
                    clause,
                    answer == right,
                    f"a hijacked call while CPU {OTHER} is at {image.symbolize(here)} is wrong",
                )
    with bench.fail_if_guest_dies("C4d", "C4g", "C5c"):
        status = join(bench, thread)
    for clause in ("C4d", "C5c"):
        bench.require(clause, status == RIGHT, f"CPU {OTHER}: {wrong_answer(image, status)}")
    entries, exits = (
        Counter(
            (event.cpu, event.func)
            for event in bench.guest.tracer.events()
            if isinstance(event, kind)
        )
        for kind in (FuncgraphEntryEvent, FuncgraphExitEvent)
    )
    found = f"{entries[0, site.ip]} entries and {exits[0, site.ip]} exits"
    bench.require(
        "C4g",
        entries[0, site.ip] == exits[0, site.ip] == calls,
        f"{calls} hijacked calls on CPU 0 have {found}",
    )
    # Other threads end, or wait for ever, in functions of the kernel; those of the workload return.
    file = _file(bench, leaf)
    wrong = {
        image.symbolize(func): f"{entries[cpu, func]} entries, {exits[cpu, func]} exits"
        for cpu, func in entries
        if cpu == OTHER and _file(bench, func) == file and entries[cpu, func] != exits[cpu, func]
    }
    bench.require("C4g", not wrong, f"calls on CPU {OTHER} have no exit", **wrong)


def _file(bench: Bench, address: int) -> str | None:
    line = bench.image.source_line(address)
    return line.file if line else None


def _step(bench: Bench, count: int, end: int) -> int:
    """Step through instructions of the port, not beyond ``end``; functions of the kernel run whole.

    Returns the address of the next instruction.
    """
    isa, debugger, symbols = bench.isa, bench.guest.debugger, bench.image.symbols
    functions = {symbols[name] for name in KERNEL if name in symbols}
    here, delayed = debugger.read_register(isa.abi.pc_register) & isa.mask, False
    while (count or delayed or here in functions) and here != end & isa.mask:
        delayed = isa.cpu.has_delay_slot(bench.code.instruction(here))
        if here in functions:
            here = bench.run_to(return_address(debugger, isa.abi))
            delayed = False
        else:
            here = debugger.step_instruction().address & isa.mask
        count = max(0, count - 1)
    return here


def _call_beside(bench: Bench, call: tuple[int, ...]) -> int:
    """Call a function on CPU 0 while the other one is stopped; returns its result.

    If the port waits for the other CPU, that one continues.
    """
    end = bench.image.address_of(CALL_RETURNS) & bench.isa.mask
    with alone(bench, 0):
        before = bench.enter(*call)
        try:
            # With a stop of its own: gdb may take an interruption for one of the other CPU.
            waits = bench.run_to(CALL_RETURNS, WAITING) != end
        except Hang:
            waits = True
    if waits:
        bench.run_to(CALL_RETURNS)
    return _result(bench, before)


def _result(bench: Bench, before: Registers) -> int:
    """The ``int`` that a call on CPU 0 has returned; its registers are as before the call then."""
    result = bench.registers.value(bench.isa.abi.results[0]) & 0xFFFFFFFF
    bench.registers.put_back(before)
    return result - (result >> 31 << 32)


@contextmanager
def alone(bench: Bench, cpu: int) -> Iterator[None]:
    """Only this CPU runs when the guest continues; the debugger selects it."""
    debugger = bench.guest.debugger
    debugger.select_thread(cpu + 1)
    debugger.cli("set scheduler-locking on")
    try:
        yield
    finally:
        debugger.cli("set scheduler-locking off")
        debugger.select_thread(1)
