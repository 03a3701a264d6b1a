# SPDX-License-Identifier: MIT
"""The plugin's shadow stack, block by block, in a QEMU that does only what the test says."""

import ctypes
import mmap
import shutil
import struct
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import harness.oracle
from harness.errors import HostError
from harness.image import Function, Structure
from harness.isa import FlowKind, FlowPattern, for_elf
from harness.oracle import Call, Oracle
from harness.oracle.compile import SOURCES
from harness.oracle.layout import Control

PLUGIN = Path(harness.oracle.__file__).parent
BASE = 0x80100000
MCOUNT = BASE + 0x1000
VECTOR = BASE + 0x2180
VECTOR_PLACE = 0x2180 // 4
MIPS, AARCH64 = 8, 183
# Places in words from BASE; the threads lie elsewhere.
SWITCH, THREAD_ENTRY, SETJMP, LONGJMP = 0xB00, 0xC00, 0xD00, 0xD10
THREADS, THREAD_SIZE, NR_THREADS = 0x80200000, 96, 4


@pytest.fixture(scope="session", params=[1, 2, 3, 7], ids="interface-{}".format)
def library(tmp_path_factory, request):
    """The plugin and a fake QEMU of each version of the interface in one shared object."""
    output = tmp_path_factory.mktemp("oracle") / "fake.so"
    sources = [Path(__file__).with_name("fake_qemu.c"), *(PLUGIN / name for name in SOURCES)]
    flags = ["-shared", "-fPIC", "-Wall", "-Werror", f"-I{PLUGIN}", f"-DINTERFACE={request.param}"]
    subprocess.run(["cc", *flags, "-o", output, *sources], check=True)
    return output


class Code:
    """Words of one instruction set; those that are executed have so many bytes."""

    def __init__(self, isa, words, size=4):
        self.isa, self.size = isa, size
        self.__dict__.update(words)
        self.site = isa.value(isa.sites.encode_call(BASE, MCOUNT))
        self.slots = isa.machine.delay_slot // 4


CODES = {
    "mips": Code(
        for_elf(MIPS, 32, "big"),
        {
            **{"nop": 0, "ret": 0x03E00008, "jump": 0x00400008, "call": 0x0C040000},
            **{"eret": 0x42000018, "load": 0x8C880000, "store": 0xAC880000},
        },
    ),
    "aarch64": Code(
        for_elf(AARCH64, 64, "little"),
        {
            **{"nop": 0xD503201F, "ret": 0xD65F03C0, "jump": 0xD61F0200, "call": 0x94000100},
            **{"eret": 0xD69F03E0, "load": 0xF9400020, "store": 0xF9000020},
        },
    ),
}
BGEZAL = 0x04910010


class ShortMachine(type(CODES["aarch64"].isa.machine)):
    """With the compressed calls and returns of RISC-V, which have 16 bits."""

    flow_patterns = (
        FlowPattern(0xF07F, 0x9002, FlowKind.CALL),
        FlowPattern(0xF07F, 0x8002, FlowKind.INDIRECT_JUMP),
    )


class ShortIsa(type(CODES["aarch64"].isa)):
    machine_type = ShortMachine


SHORT = Code(ShortIsa(64, "little"), {"nop": 0x0001, "ret": 0x8082, "call": 0x9282}, size=2)


@dataclass
class Cpu:
    """Executes blocks; an address is an offset from BASE, in words."""

    library: ctypes.CDLL
    code: Code
    number: int = 0

    def run(self, place, *words):
        data = self.code.isa.encode(*words, size=self.code.size)
        self.library.fake_execute(self.number, ctypes.c_uint64(at(place)), data, len(words))

    def transfer(self, place, word):
        """A branch at the end of a block, with its delay slot where the machine has one."""
        self.run(place, word, *[self.code.nop] * self.code.slots)

    def call(self, place):
        """Execute a call; the answer is where it returns to, in words."""
        self.transfer(place, self.code.call)
        return place + self.code.size / 4 + self.code.slots

    def ret(self, place):
        self.transfer(place, self.code.ret)

    def enter(self, place):
        """Begin at a place where there is nothing to see."""
        self.run(place, self.code.nop)

    def site(self):
        """Execute the one site, which stands at the beginning."""
        self.run(0, self.code.nop)

    def access(self, slot, store):
        """Save to, or load from, the structure of a thread in the middle of __switch_to()."""
        self.memory(SWITCH, THREADS + slot * THREAD_SIZE + 40, store)

    def memory(self, place, address, store, word=None):
        """An instruction that stores to, or loads from, an address."""
        usual = self.code.store if store else self.code.load
        data = self.code.isa.encode(usual if word is None else word)
        where, address = ctypes.c_uint64(at(place)), ctypes.c_uint64(address)
        self.library.fake_access(self.number, where, data, address, store)

    def stale(self, address, store):
        """A later access, for which QEMU still calls what the last watched one had."""
        self.library.fake_stale_access(self.number, ctypes.c_uint64(address), store)

    def setjmp(self, place, buffer):
        """Call setjmp() from a place; the answer is where both ways lead."""
        back = self.call(place)
        self.enter(SETJMP)
        for word in range(3):
            self.memory(SETJMP, buffer + 4 * word, True)
        self.ret(SETJMP + 1)
        self.enter(back)
        return back

    def longjmp(self, place, buffer, back):
        """Call longjmp() from a place."""
        self.call(place)
        self.enter(LONGJMP)
        self.memory(LONGJMP, buffer + 8, False)
        self.memory(LONGJMP, THREADS + 16, True)
        self.memory(LONGJMP, buffer, False)
        self.ret(LONGJMP + 1)
        self.enter(back)

    def switch(self, before, after, place):
        """Call __switch_to() from a place; the answer is where the thread that ran goes on."""
        back = self.call(place)
        self.enter(SWITCH)
        self.access(before, True)
        self.access(after, False)
        self.ret(SWITCH + 1)
        return back

    def interrupt(self):
        """Come to the vector; the answer is where the handler that it calls returns to."""
        self.enter(VECTOR_PLACE)
        return self.call(VECTOR_PLACE + 1)

    def leave(self, handler, place):
        """Return from the handler and from the exception."""
        self.ret(400)
        self.enter(handler)
        self.run(VECTOR_PLACE + 20, self.code.eret)
        self.enter(place)


def at(place):
    return int(BASE + 4 * place)


class FakeImage(SimpleNamespace):
    """What is found in an image is kept with it, as long as it lives: it is one by its identity."""

    __hash__ = object.__hash__


def image(code):
    """One function at BASE with one site, and room behind it for everything else."""
    isa = code.isa
    text = isa.encode(code.site, code.nop)
    function = Function("traced", BASE, len(text))
    switch = Function("__switch_to", at(SWITCH), 16)
    jumps = [Function("setjmp", at(SETJMP), 16), Function("longjmp", at(LONGJMP), 16)]
    memory = {BASE: text}
    memory |= {function.address: isa.encode(*[code.nop] * 4) for function in jumps}
    return FakeImage(
        isa=isa,
        byteorder=isa.byteorder,
        symbols={
            "_mcount": MCOUNT,
            isa.machine.vectors_symbol: VECTOR - 0x180,
            "__switch_to": at(SWITCH),
            "thread_entry": at(THREAD_ENTRY),
            "threads": THREADS,
        },
        functions=[function, *jumps],
        function_at=lambda address: {BASE: function, at(SWITCH): switch}.get(address),
        read=lambda address, size: memory[address],
        size_of={"threads": NR_THREADS * THREAD_SIZE}.__getitem__,
        structures=SimpleNamespace(
            struct={"thread_info": Structure("thread_info", THREAD_SIZE, {})}.__getitem__
        ),
    )


def linux_image(code):
    """The same with a Linux kernel's functions, and vectors where it puts them."""
    found = image(code)
    switch, *entries = code.isa.machine.linux_switch
    found.symbols = {"_mcount": MCOUNT, switch: at(SWITCH)}
    found.symbols |= {entry: at(THREAD_ENTRY + number) for number, entry in enumerate(entries)}
    return found


@pytest.fixture
def machine(library, tmp_path):
    """A function: (CPUs, oracle) of a fake machine."""
    oracles = []

    def start(name="mips", cpus=1, capacity=1000, image=image):
        code = SHORT if name == "short" else CODES[name]
        oracle = Oracle(image(code), tmp_path, capacity=capacity)
        oracles.append(oracle)
        # The same file would be the same library, with the state of the test before.
        own = tmp_path / "own.so"
        shutil.copy(library, own)
        loaded = ctypes.CDLL(str(own))
        ctypes.c_size_t.in_dll(loaded, "fake_size").value = code.size
        assert install(loaded, f"control={tmp_path / 'oracle'}", cpus=cpus) == 0
        oracle.window(True)
        return [Cpu(loaded, code, number) for number in range(cpus)], oracle

    yield start
    for oracle in oracles:
        oracle.close()


def install(library, *arguments, cpus=1, system=True):
    argv = (ctypes.c_char_p * len(arguments))(*(a.encode() for a in arguments))
    return library.fake_install(cpus, ctypes.c_bool(system), len(arguments), argv)


def parents(oracle):
    """Callers in words from BASE; None where there is none."""
    return [call.parent and (call.parent - BASE) // 4 for call in oracle.records()]


both = pytest.mark.parametrize("name", CODES)


@both
def test_parent_is_the_return_address(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    (call,) = oracle.records()
    assert (call.cpu, call.site, call.function) == (0, BASE, "traced")
    assert call.parent == at(back)


def test_a_call_of_16_bits_returns_right_behind_itself(machine):
    (cpu,), oracle = machine("short")
    outer = cpu.call(100)
    assert at(outer) == at(100) + 2
    cpu.site()
    cpu.ret(301)
    cpu.enter(outer)
    cpu.site()
    assert [call.parent for call in oracle.records()] == [at(outer), 0]


def test_before_any_call_there_is_no_parent(machine):
    (cpu,), oracle = machine()
    cpu.site()
    assert parents(oracle) == [0]


@both
def test_return_takes_the_frame_away(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


@both
def test_tail_call_keeps_the_caller(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.enter(200)
    cpu.transfer(201, cpu.code.jump)
    cpu.site()
    assert parents(oracle) == [back]


@both
def test_leaving_several_frames_at_once(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    middle = cpu.call(200)
    cpu.call(300)
    cpu.call(400)
    cpu.enter(500)
    cpu.transfer(501, cpu.code.jump)
    cpu.enter(middle)
    cpu.site()
    assert parents(oracle) == [outer]


def flow(oracle):
    """Calls and returns as letters, each with the caller in words from BASE."""
    return [
        (
            "C"
            if isinstance(record, Call)
            else ("left" if record.left else "late" if record.late else "R"),
            place(record.parent),
        )
        for record in oracle.flow()
    ]


def place(address):
    return (address - BASE) // 4


@both
def test_a_return_pairs_with_its_call(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    cpu.site()
    inner = cpu.call(200)
    cpu.site()
    cpu.ret(201)
    cpu.enter(inner)
    cpu.ret(202)
    cpu.enter(outer)
    assert flow(oracle) == [("C", outer), ("C", inner), ("R", inner), ("R", outer)]
    assert {record.site for record in oracle.flow()} == {BASE}


@both
def test_the_return_of_a_tail_call_is_that_of_both(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    cpu.transfer(10, cpu.code.jump)
    cpu.site()
    cpu.ret(10)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("C", back), ("R", back), ("R", back)]


@both
def test_a_return_that_makes_a_detour(machine, name):
    """As return_to_handler does: to a place that nobody called from, and from there back."""
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    cpu.ret(10)
    cpu.enter(500)
    handler = cpu.call(501)
    cpu.ret(600)
    cpu.enter(handler)
    assert flow(oracle) == [("C", back)]
    cpu.ret(503)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("R", back)]


@both
def test_longjmp_ends_what_it_leaves(machine, name):
    """At once, and no more than that, although all of them return to the same place."""
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    caught = cpu.setjmp(10, THREADS - 0x800)
    for _ in range(3):
        assert cpu.call(100) == back
        cpu.site()
    cpu.longjmp(12, THREADS - 0x800, caught)
    assert flow(oracle) == [("C", back)] * 4 + [("left", back)] * 3
    cpu.ret(14)
    cpu.enter(back)
    assert flow(oracle)[7:] == [("R", back)]


@both
def test_accesses_behind_the_block_of_a_watched_one_are_others(machine, name):
    """QEMU 7.2 may keep the callback of an instruction that ends its block."""
    (cpu,), oracle = machine(name)
    buffer = THREADS - 0x800
    caught = cpu.setjmp(10, buffer)
    cpu.longjmp(12, buffer, caught)
    back = cpu.call(100)
    cpu.site()
    cpu.stale(buffer + 8, False)
    cpu.stale(buffer + 8, True)
    assert flow(oracle) == [("C", back)]
    cpu.ret(14)
    cpu.enter(back)
    assert flow(oracle)[1:] == [("R", back)]


@both
def test_longjmp_goes_back_to_the_buffer_that_it_is_given(machine, name):
    (cpu,), oracle = machine(name)
    outer, inner = THREADS - 0x800, THREADS - 0x400
    backs = []
    for number, buffer in enumerate((outer, inner)):
        backs.append(cpu.call(100 + 100 * number))
        cpu.site()
        caught = cpu.setjmp(10 + 10 * number, buffer)
    cpu.call(300)
    cpu.site()
    cpu.longjmp(30, inner, caught)
    assert [kind for kind, _ in flow(oracle)] == ["C", "C", "C", "left"]
    cpu.longjmp(31, outer, 10)
    assert flow(oracle)[4:] == [("left", backs[1])]


def test_returns_in_a_closed_window(machine):
    (cpu,), oracle = machine()
    oracle.window(False)
    first = cpu.call(100)
    cpu.site()
    oracle.window(True)
    second = cpu.call(200)
    cpu.site()
    oracle.window(False)
    cpu.ret(10)
    cpu.enter(second)
    oracle.window(True)
    cpu.ret(11)
    cpu.enter(first)
    assert flow(oracle) == [("C", second), ("late", second)]


def test_conditional_call_that_is_not_taken(machine):
    (cpu,), oracle = machine()
    back = cpu.call(100)
    cpu.transfer(200, BGEZAL)
    cpu.enter(202)
    cpu.site()
    assert parents(oracle) == [back]


def test_conditional_call_that_is_taken(machine):
    (cpu,), oracle = machine()
    cpu.call(100)
    cpu.transfer(200, BGEZAL)
    cpu.site()
    assert parents(oracle) == [202]


@pytest.mark.parametrize("word", [CODES["mips"].call, BGEZAL])
def test_block_that_ends_before_the_delay_slot(machine, word):
    (cpu,), oracle = machine()
    cpu.run(100, word)
    cpu.run(101, cpu.code.nop)
    cpu.site()
    assert parents(oracle) == [102]


def test_return_whose_delay_slot_is_a_block_of_its_own(machine):
    (cpu,), oracle = machine()
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.run(300, cpu.code.ret)
    cpu.run(301, cpu.code.nop)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


def test_call_that_a_fault_starts_over(machine):
    """The fault is in the delay slot: the handler returns to the call itself."""
    (cpu,), oracle = machine()
    outer = cpu.call(100)
    cpu.run(200, cpu.code.call, cpu.code.nop)
    vector = (VECTOR - BASE) // 4
    cpu.transfer(vector, cpu.code.eret)
    back = cpu.call(200)
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [outer]


@both
def test_interrupt_between_a_return_and_its_arrival(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    vector = (VECTOR - BASE) // 4
    cpu.enter(vector)
    handler = cpu.call(vector + 1)
    cpu.ret(400)
    cpu.enter(handler)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


def test_a_site_whose_delay_slot_is_interrupted_is_one_call(machine):
    """As at the end of a page, where the block ends in front of the slot."""
    (cpu,), oracle = machine()
    back = cpu.call(100)
    cpu.run(0, cpu.code.site)
    handler = cpu.interrupt()
    cpu.ret(400)
    cpu.enter(handler)
    cpu.run(VECTOR_PLACE + 20, cpu.code.eret)
    cpu.run(0, cpu.code.site, cpu.code.nop)
    assert parents(oracle) == [back]
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(2)
    cpu.ret(10)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("R", back)]
    cpu.site()
    assert len(oracle.records()) == 2


@both
def test_interrupts_back_to_back_are_one_level(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    for _ in range(100):
        handler = cpu.interrupt()
        cpu.site()
        cpu.ret(400)
        cpu.enter(handler)
        cpu.run(VECTOR_PLACE + 20, cpu.code.eret)
    cpu.enter(inner)
    cpu.site()
    assert {call.level for call in oracle.records()[:-1]} == {1}
    assert (parents(oracle)[-1], oracle.records()[-1].level) == (outer, 0)


def test_interrupt_at_a_label_behind_a_call(machine):
    """The handler returns to what is also a return address, but nothing has returned there."""
    (cpu,), oracle = machine()
    cpu.call(100)
    back = cpu.call(200)
    cpu.enter(300)
    vector = (VECTOR - BASE) // 4
    cpu.enter(vector)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [back]


def test_handlers_that_never_return_are_forgotten(machine):
    (cpu,), oracle = machine()
    back = cpu.call(100)
    vector = (VECTOR - BASE) // 4
    for _ in range(100):
        cpu.enter(vector)
    cpu.ret(200)
    cpu.enter(vector)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [0]


def test_sign_extended_addresses(machine):
    (cpu,), oracle = machine()
    for place, word in ((100, cpu.code.call), (0, cpu.code.nop)):
        data = struct.pack(">II", word, 0)
        address = at(place) | 0xFFFFFFFF_00000000
        cpu.library.fake_execute(0, ctypes.c_uint64(address), data, 2)
    assert [(call.site, call.parent) for call in oracle.records()] == [(BASE, at(102))]


@both
def test_each_thread_has_its_own_callers(machine, name):
    (cpu,), oracle = machine(name)
    one = cpu.call(100)
    first = cpu.switch(0, 1, 110)
    cpu.enter(THREAD_ENTRY)
    other = cpu.call(200)
    cpu.site()
    second = cpu.switch(1, 0, 210)
    cpu.enter(first)
    cpu.site()
    cpu.switch(0, 1, 120)
    cpu.enter(second)
    cpu.ret(10)
    cpu.enter(other)
    cpu.site()
    assert parents(oracle) == [other, one, 0]
    assert [oracle.thread_address(call.thread) for call in oracle.records()] == [
        THREADS + THREAD_SIZE,
        THREADS,
        THREADS + THREAD_SIZE,
    ]
    assert flow(oracle)[-2:] == [("R", other), ("C", place(0))]


@both
def test_tasks_of_a_linux_kernel_are_known_by_where_their_registers_are_saved(machine, name):
    (cpu,), oracle = machine(name, image=linux_image)
    init, worker, stack = THREADS + 0x1000, THREADS + 0x5000, THREADS + 0x9000

    def switch(before, after, place):
        back = cpu.call(place)
        cpu.enter(SWITCH)
        # The status lies behind the other registers, and is saved first.
        for offset in (44, 0, 4):
            cpu.memory(SWITCH + 1, before + offset, True)
        cpu.memory(SWITCH + 1, after, False)
        # A variable of the kernel.
        cpu.memory(SWITCH + 1, stack, True)
        cpu.memory(SWITCH + 1, after + 44, False)
        cpu.ret(SWITCH + 2)
        return back

    entries = cpu.code.isa.machine.linux_switch[1:]
    one = cpu.call(100)
    first = switch(init, worker, 110)
    cpu.enter(THREAD_ENTRY + len(entries) - 1)
    other = cpu.call(200)
    cpu.site()
    second = switch(worker, init, 210)
    cpu.enter(first)
    cpu.site()
    switch(init, worker, 120)
    cpu.enter(second)
    cpu.site()
    assert parents(oracle) == [other, one, other]
    threads = [oracle.thread_address(call.thread) for call in oracle.records()]
    assert threads == [worker, init, worker]


def test_vectors_that_the_guest_places_itself(machine):
    (cpu,), oracle = machine(image=linux_image)
    oracle.set_vectors(VECTOR - 0x180)
    cpu.call(100)
    handler = cpu.interrupt()
    cpu.site()
    cpu.leave(handler, 10)
    cpu.site()
    assert [call.level for call in oracle.records()] == [1, 0]


@both
def test_a_thread_that_moves_to_another_cpu(machine, name):
    (first, second), oracle = machine(name, cpus=2)
    one = first.call(100)
    goes_on = first.switch(0, 2, 110)
    first.enter(THREAD_ENTRY)
    second.switch(1, 0, 300)
    second.enter(goes_on)
    second.site()
    assert parents(oracle) == [one]
    (call,) = oracle.records()
    assert (call.cpu, oracle.thread_address(call.thread)) == (1, THREADS)


@both
def test_preempted_between_a_return_and_its_arrival(machine, name):
    """Another thread runs in the middle of an interrupt, and is itself taken up again there."""
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    handler = cpu.interrupt()
    resumed = cpu.switch(0, 1, 500)
    cpu.enter(THREAD_ENTRY)
    other = cpu.call(600)
    cpu.site()
    second_handler = cpu.interrupt()
    second = cpu.switch(1, 0, 500)
    cpu.enter(resumed)
    cpu.leave(handler, inner)
    cpu.site()
    cpu.switch(0, 1, 700)
    cpu.enter(second)
    cpu.leave(second_handler, 10)
    cpu.site()
    assert parents(oracle) == [other, outer, other]
    assert [call.level for call in oracle.records()] == [0, 0, 0]


def test_a_place_in_the_table_that_is_used_again(machine):
    (cpu,), oracle = machine()
    back = cpu.switch(0, 1, 100)
    cpu.enter(THREAD_ENTRY)
    cpu.call(200)
    cpu.interrupt()
    cpu.switch(1, 0, 300)
    cpu.enter(back)
    cpu.switch(0, 1, 400)
    cpu.enter(THREAD_ENTRY)
    cpu.site()
    (call,) = oracle.records()
    assert (call.parent, call.level) == (0, 0)


def test_calls_in_interrupts_have_a_level(machine):
    (cpu,), oracle = machine()
    cpu.call(100)
    cpu.site()
    handler = cpu.interrupt()
    cpu.site()
    cpu.leave(handler, 10)
    cpu.site()
    assert [call.level for call in oracle.records()] == [0, 1, 0]


def test_accesses_to_other_memory_switch_nothing(machine):
    (cpu,), oracle = machine()
    cpu.access(NR_THREADS, False)
    cpu.access(-1, True)
    cpu.site()
    (call,) = oracle.records()
    assert oracle.thread_address(call.thread) == 0


@both
@pytest.mark.parametrize("word", ["ret", "nop"])
def test_what_neither_loads_nor_stores_is_not_watched_for_it(machine, name, word):
    """QEMU 7.2 would not take the callback of a branch from the CPU again."""
    (cpu,), oracle = machine(name)
    cpu.memory(SWITCH, THREADS + 40, False, getattr(cpu.code, word))
    cpu.site()
    (call,) = oracle.records()
    assert oracle.thread_address(call.thread) == 0


def test_cpus_do_not_mix(machine):
    (first, second), oracle = machine(cpus=2)
    one, other = first.call(100), second.call(200)
    first.site()
    second.site()
    assert parents(oracle) == [one, other]
    assert [call.cpu for call in oracle.records()] == [0, 1]
    assert [call.instructions for call in oracle.records()] == [2, 2]
    assert oracle.instructions == 6


def test_cpus_that_take_turns_in_one_thread(machine, request):
    """As with -icount: from interface 2 on it is not known which of them executes a block."""
    (first, second), oracle = machine(cpus=2)
    for cpu in (first, second):
        cpu.library.fake_begin(cpu.number)
    second.call(200)
    second.site()
    assert oracle.instructions == 3
    if "interface-1" in request.node.name:
        assert [call.cpu for call in oracle.records()] == [1]
    else:
        with pytest.raises(HostError, match="which CPU executes"):
            oracle.records()


def test_cpus_with_threads_of_their_own(machine):
    (first, second), oracle = machine(cpus=2)
    for cpu in (first, second):
        thread = threading.Thread(target=cpu.library.fake_begin, args=(cpu.number,))
        thread.start()
        thread.join()
    second.site()
    assert [call.cpu for call in oracle.records()] == [1]


def test_count_does_not_include_the_site(machine):
    (cpu,), oracle = machine()
    cpu.run(10, *[cpu.code.nop] * 7)
    cpu.site()
    assert oracle.records()[0].instructions == 7
    assert oracle.instructions == 8


def test_no_room(machine):
    page_of_records = mmap.PAGESIZE // 32  # a record too many lies behind the file: SIGBUS
    (cpu,), oracle = machine(capacity=page_of_records)
    for _ in range(page_of_records):
        cpu.site()
    assert len(oracle.records()) == page_of_records
    cpu.site()
    cpu.site()
    assert oracle.dropped == 2
    with pytest.raises(HostError, match="no room for 2 of"):
        oracle.records()


def test_too_deep(machine):
    (cpu,), oracle = machine()
    for _ in range(32768 + 1):
        cpu.call(100)
        cpu.call(200)
    cpu.site()
    with pytest.raises(HostError, match="deeper"):
        oracle.records()


@pytest.mark.parametrize(
    "arguments",
    [(), ("window=1",), ("control=/nonexistent/file",), ("control=/dev/null", "control=/dev/null")],
)
def test_bad_arguments_are_refused(library, capfd, arguments):
    assert install(ctypes.CDLL(str(library)), *arguments) == -1
    assert "oracle: " in capfd.readouterr().err


def test_too_many_cpus_and_user_emulation_are_refused(library, capfd, tmp_path):
    with Oracle(image(CODES["mips"]), tmp_path, capacity=10):
        loaded, argument = ctypes.CDLL(str(library)), f"control={tmp_path / 'oracle'}"
        assert install(loaded, argument, cpus=65) == -1
        assert install(loaded, argument, system=False) == -1


@pytest.mark.parametrize(
    "field",
    [
        *("magic", "version", "size", "nr_patterns", "nr_vectors", "nr_sites", "nr_marks"),
        *("patterns", "vectors", "sites", "marks", "records", "capacity", "nr_slots"),
    ],
)
def test_damaged_control_file_is_refused(library, capfd, tmp_path, field):
    with Oracle(image(CODES["mips"]), tmp_path, capacity=10):
        control = tmp_path / "oracle"
        content = bytearray(control.read_bytes())
        struct.pack_into("=Q", content, getattr(Control, field).offset, 1 << 40)
        control.write_bytes(content)
        assert install(ctypes.CDLL(str(library)), f"control={control}") == -1
        assert "not a control file" in capfd.readouterr().err
