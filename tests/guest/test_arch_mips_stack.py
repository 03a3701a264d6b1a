# SPDX-License-Identifier: MIT
"""Stack traces on MIPS from any instruction of traced calls, in stubs and tracers too."""

from pathlib import Path

import pytest

from harness import boot

pytestmark = pytest.mark.unsliced

WORKLOAD = str(Path(__file__).with_name("workloads") / "walks.c")

# What a struct pt_regs begins with, in words: $0 to $31, lo, hi, epc.
ARGUMENTS = [f"a{n}" for n in range(8)]
TEMPORARIES = [f"t{n}" for n in range(8)]
SAVED = [f"s{n}" for n in range(8)]
HEAD = ["zero", "at", "v0", "v1"]
TAIL = [*SAVED, "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra", "lo", "hi", "pc"]
NAMES = {
    4: [*HEAD, *ARGUMENTS[:4], *TEMPORARIES, *TAIL],
    8: [*HEAD, *ARGUMENTS, *TEMPORARIES[:4], *TAIL],
}

JUMPS = {1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23}
"""Opcodes with a delay slot; 0 has two more, jr and jalr."""

STRIDE = 3
"""Instructions from one walk to the next, unless all are asked for."""

MAX_STEPS = 5_000
MAX_CUT = 24
"""Two hijacked functions return; from taking an address to using it are a few instructions."""


class Walker:
    """Steps a guest, follows its stack by the instructions, and compares its own stack traces."""

    def __init__(self, guest):
        self.guest = guest
        self.size = guest.image.isa.word_size
        self.names = NAMES[self.size]
        self.handler = guest.address_of("return_to_handler")
        self.callers = []

    def walk(self):
        """The stack trace of the guest's own unwinder from the current registers."""
        debugger, image = self.guest.debugger, self.guest.image
        registers = debugger.registers()
        words = [registers.get(name, 0) % (1 << 8 * self.size) for name in self.names]
        data = b"".join(word.to_bytes(self.size, image.byteorder) for word in words)
        debugger.write_memory(self.guest.address_of("walk_regs"), data)
        debugger.call(self.guest.address_of("walk"))
        count = self.number("walk_count", 4)
        raw = debugger.read_memory(self.guest.address_of("walk_entries"), count * self.size)
        pieces = (raw[i : i + self.size] for i in range(0, len(raw), self.size))
        return [int.from_bytes(piece, image.byteorder) for piece in pieces]

    def is_cut(self, found, expected):
        """Whether it ends at return_to_handler, with the original address popped but not in ra."""
        return 0 <= found[-1] - self.handler < 64 and found == expected[: len(found)]

    def number(self, symbol, size):
        raw = self.guest.debugger.read_memory(self.guest.address_of(symbol), size)
        return int.from_bytes(raw, self.guest.image.byteorder)

    @property
    def pc(self):
        return self.guest.debugger.read_register("pc")

    def step(self):
        """One instruction, with its delay slot if it has one."""
        before = self.pc
        raw = self.guest.debugger.read_memory(before, 4)
        word = int.from_bytes(raw, self.guest.image.byteorder)
        opcode, function = word >> 26, word & 0x3F
        self.guest.debugger.step_instruction()
        # A CPU that stands in a delay slot still knows where to go: nothing can be called there.
        if self.pc == before + 4 and (opcode in JUMPS or (opcode == 0 and function in (8, 9))):
            self.guest.debugger.step_instruction()
        if opcode == 3 or (opcode == 0 and function == 9 and word >> 11 & 31):
            self.callers.append(before + 8)
        elif opcode == 0 and function in (8, 9) and self.pc != self.handler:
            while self.callers and self.callers.pop() != self.pc:
                pass


@pytest.mark.parametrize(
    ("name", "tracer", "level"),
    [
        ("mips-malta", "nop", "-O0"),
        ("mips-malta", "function", "-O2"),
        ("mipsel-malta", "function_graph", "-O2"),
        ("mips64-malta", "function_graph", "-Os"),
    ],
)
def test_a_walk_from_any_instruction(name, tracer, level, request):
    stride = 1 if request.config.getoption("--full") else STRIDE
    with boot(name, workload=WORKLOAD, cflags=[level]) as guest:
        if tracer != "nop":
            # The last call is of the other that is traced: one hijacked address for both.
            guest.tracer.set_filter("calls_last", "leaf")
            guest.tracer.current = tracer
        guest.run(until="walks")
        walker = Walker(guest)
        begin = walker.walk()
        walker.callers = begin[:0:-1]
        end = walker.callers[-1]
        cut = 0
        for count in range(MAX_STEPS):
            walker.step()
            # Traced calls are all alike: the first of them will do.
            if walker.pc == (end if tracer == "nop" else guest.address_of("several")):
                break
            if count % stride:
                continue
            expected = [walker.pc, *reversed(walker.callers)]
            found = walker.walk()
            cut += found != expected and walker.is_cut(found, expected)
            assert found == expected or walker.is_cut(found, expected), hex(walker.pc)
        else:
            raise AssertionError("walks() did not return")
        assert cut <= MAX_CUT
