# SPDX-License-Identifier: MIT
"""Stack traces on AArch64 from any instruction of traced calls, in stubs and tracers too."""

from pathlib import Path

import pytest

from harness import boot

pytestmark = pytest.mark.unsliced

WORKLOAD = str(Path(__file__).with_name("workloads") / "walks.c")

# Each config, and each way to build that makes other frames; gcc has no -pg without frame pointers.
CASES = [
    ("aarch64-virt", "-O2", "function_graph"),
    ("aarch64-virt", "-O0", "function"),
    ("aarch64-virt-patchable", "-fomit-frame-pointer", "function_graph"),
    ("aarch64-virt-patchable", "-Os", "function"),
    ("aarch64-virt-args", "-O2", "function_graph"),
    ("aarch64-virt-args", "-Os", "function"),
    ("aarch64-virt-regs", "-O2", "function_graph"),
    ("aarch64-virt-bti-pac", "-O2", "function_graph"),
    ("aarch64-virt-bti-pac", "-Os", "nop"),
    ("aarch64-virt-bti-pac-patchable", "-O2", "function_graph"),
]

STRIDE = 23
"""Instructions from one walk to the next: no divisor of what a traced call takes."""

REGISTERS = [*(f"x{n}" for n in range(31)), "sp", "pc", "cpsr"]
"""What a struct pt_regs begins with."""

MAX_STEPS = 20_000


def is_call(word):
    """BL or BLR (Arm ARM, C4.1)."""
    return word >> 26 == 0b100101 or word & 0xFFFFFC1F == 0xD63F0000


def is_return(word):
    return word & 0xFFFFFC1F == 0xD65F0000


class Walker:
    """Steps a guest, follows its stack by the instructions, and compares its own stack traces."""

    def __init__(self, guest):
        self.guest = guest
        self.handler = guest.address_of("return_to_handler")
        self.words = {}
        self.pc = guest.debugger.read_register("pc")
        self.callers = []

    def walk(self):
        """The stack trace of the guest's own unwinder from the current registers."""
        debugger = self.guest.debugger
        registers = debugger.registers()
        data = b"".join(registers[name].to_bytes(8, "little") for name in REGISTERS)
        debugger.write_memory(self.guest.address_of("walk_regs"), data)
        debugger.call(self.guest.address_of("walk"))
        count = self.number("walk_count", 4)
        raw = debugger.read_memory(self.guest.address_of("walk_entries"), count * 8)
        return [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw), 8)]

    def number(self, symbol, size):
        raw = self.guest.debugger.read_memory(self.guest.address_of(symbol), size)
        return int.from_bytes(raw, "little")

    def word(self):
        if self.pc not in self.words:
            raw = self.guest.debugger.read_memory(self.pc, 4)
            self.words[self.pc] = int.from_bytes(raw, "little")
        return self.words[self.pc]

    def step(self):
        before, word = self.pc, self.word()
        self.pc = self.guest.debugger.step_instruction().address
        if is_call(word):
            self.callers.append(before + 4)
        elif is_return(word) and self.pc != self.handler:
            while self.callers and self.callers.pop() != self.pc:
                pass

    def in_doubt(self, found):
        """Whether it ends with return_to_handler, whose original address is already popped."""
        expected = [self.pc, *reversed(self.callers)]
        last = self.guest.image.function_at(found[-1])
        return found == expected[: len(found)] and last.name == "return_to_handler"


@pytest.mark.parametrize(("name", "flags", "tracer"), CASES)
def test_a_walk_from_any_instruction(name, flags, tracer):
    with boot(name, workload=WORKLOAD, cflags=[flags]) as guest:
        if tracer != "nop":
            guest.tracer.set_filter("walks", "calls_last", "dynamic")
            guest.tracer.current = tracer
        guest.run(until="walks")
        walker = Walker(guest)
        walker.callers = walker.walk()[:0:-1]
        end = walker.callers[-1]
        for count in range(MAX_STEPS):
            walker.step()
            if walker.pc == end:
                break
            if count % STRIDE == 0:
                found = walker.walk()
                if found != [walker.pc, *reversed(walker.callers)]:
                    assert walker.in_doubt(found), hex(walker.pc)
        else:
            raise AssertionError("walks() did not return")
