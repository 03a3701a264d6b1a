# SPDX-License-Identifier: MIT
"""Stack traces on MIPS, begun at every instruction of traced calls, stubs and tracers included."""

from pathlib import Path

import pytest

from harness import boot

WORKLOAD = str(Path(__file__).with_name("workloads") / "walks.c")
CONFIGS = ["mips-malta", "mips-malta-ra", "mipsel-malta", "mips64-malta", "mips64el-malta"]
LEVELS = ["-O0", "-O2", "-Os"]

# What a struct pt_regs begins with, in words: $0 to $31, lo, hi, epc.
NAMES = [
    "zero",
    "at",
    "v0",
    "v1",
    "a0",
    "a1",
    "a2",
    "a3",
    "t0",
    "t1",
    "t2",
    "t3",
    "t4",
    "t5",
    "t6",
    "t7",
    "s0",
    "s1",
    "s2",
    "s3",
    "s4",
    "s5",
    "s6",
    "s7",
    "t8",
    "t9",
    "k0",
    "k1",
    "gp",
    "sp",
    "s8",
    "ra",
    "lo",
    "hi",
    "pc",
]
N64_NAMES = [*NAMES[:8], "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", *NAMES[16:]]

JUMPS = {1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23}
"""Opcodes with a delay slot; 0 has two more, jr and jalr."""

MAX_STEPS = 20_000


class Walker:
    """Steps a guest and asks it for its stack, which it also follows by the instructions."""

    def __init__(self, guest):
        self.guest = guest
        self.size = guest.image.isa.word_size
        self.names = N64_NAMES if self.size == 8 else NAMES
        self.handler = guest.address_of("return_to_handler")
        self.callers = []

    def walk(self):
        """What the guest's own unwinder makes of the registers as they are now."""
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


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("tracer", ["nop", "function", "function_graph"])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_walk_from_any_instruction(name, tracer, level):
    with boot(name, workload=WORKLOAD, cflags=[level]) as guest:
        if tracer != "nop":
            guest.tracer.current = tracer
        guest.run(until="walks")
        walker = Walker(guest)
        begin = walker.walk()
        walker.callers = begin[:0:-1]
        end = walker.callers[-1]
        for _ in range(MAX_STEPS):
            walker.step()
            if walker.pc == end:
                break
            expected = [walker.pc, *reversed(walker.callers)]
            assert walker.walk() == expected, hex(walker.pc)
        else:
            raise AssertionError("walks() did not return")
