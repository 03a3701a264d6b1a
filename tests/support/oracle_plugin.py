# SPDX-License-Identifier: MIT
"""The oracle's plugin in a fake QEMU, and CPUs that execute what a test says."""

import ctypes
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from harness.image import Function, Structure
from harness.isa import FlowKind, FlowPattern, for_elf
from harness.oracle import Call

BASE = 0x80100000
MCOUNT = BASE + 0x1000
VECTOR = BASE + 0x2180
VECTOR_PLACE = 0x2180 // 4
MIPS, AARCH64 = 8, 183
# Places in words from BASE; the threads lie elsewhere.
SWITCH, THREAD_ENTRY, SETJMP, LONGJMP = 0xB00, 0xC00, 0xD00, 0xD10
THREADS, THREAD_SIZE, NR_THREADS = 0x80200000, 96, 4


class Code:
    """Words of one instruction set; those that are executed have so many bytes."""

    def __init__(self, isa, words, size=4):
        self.isa, self.size = isa, size
        self.__dict__.update(words)
        self.site = isa.value(isa.sites.encode_call(BASE, MCOUNT))
        self.slots = isa.cpu.delay_slot // 4


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


class ShortCpu(type(CODES["aarch64"].isa.cpu)):
    """With the compressed calls and returns of one architecture, which have 16 bits."""

    flow_patterns = (
        FlowPattern(0xF07F, 0x9002, FlowKind.CALL),
        FlowPattern(0xF07F, 0x8002, FlowKind.INDIRECT_JUMP),
    )


class ShortIsa(type(CODES["aarch64"].isa)):
    cpu_type = ShortCpu


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
            isa.cpu.vectors_symbol: VECTOR - 0x180,
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
    switch, *entries = code.isa.linux.switch
    found.symbols = {"_mcount": MCOUNT, switch: at(SWITCH)}
    found.symbols |= {entry: at(THREAD_ENTRY + number) for number, entry in enumerate(entries)}
    return found


def install(library, *arguments, cpus=1, system=True):
    argv = (ctypes.c_char_p * len(arguments))(*(a.encode() for a in arguments))
    return library.fake_install(cpus, ctypes.c_bool(system), len(arguments), argv)


def parents(oracle):
    """Callers in words from BASE; None where there is none."""
    return [call.parent and (call.parent - BASE) // 4 for call in oracle.records()]


both = pytest.mark.parametrize("name", CODES)


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
