# SPDX-License-Identifier: MIT
"""CPUs of x86-64 on QEMU's q35 machine.

Encodings: AMD64 Architecture Programmer's Manual, volume 3.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from harness.isa.cpu import Computes, Cpu, FlowKind, FlowPattern, Injection, Injector, Property

_MEMORY = range(0x400000, 0x40000000)
"""What guests have mapped (guests/arch/x86_64/mmu.S)."""

_MESSAGES = 0xFEE00000
_INJECTED, _NMI = 0xE2, 0x400
"""The vector of injected interrupts (asm/apic.h), and the delivery mode of NMIs."""

_IF = 1 << 9
_PRIVILEGE = 3

_DOUBLE_FAULT, _PAGE_FAULT = 8, 14
_WRITE, _FETCH = 1 << 1, 1 << 4
"""Bits of a page fault's error code."""

_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16}
_OPERAND = re.compile(r"\b(\w+) ptr \[([^\]]+)\]")
_TERM = re.compile(r"([+-]?) ?(\w+)(?:\*(\d))?")
"""Memory operands as capstone prints them: sizes in bytes, sizes with addresses, and terms."""

_PREFIXES = (0x66, 0xF0, 0xF2, 0xF3, *range(0x40, 0x50), 0x64, 0x65, 0x2E, 0x3E)


def _send_message(to: Injector, cpu: int, nmi: bool) -> None:
    """A message of an interrupt to a local APIC, as a device sends it."""
    data = _NMI if nmi else _INJECTED
    to.store(_MESSAGES + (cpu << 12), data.to_bytes(4, "little"))


class X8664Cpu(Cpu):
    """The kernel runs in ring 0, identity-mapped."""

    injections: ClassVar[Mapping[str, Injection]] = {"msi": Injection(_send_message, nmi=True)}
    flow_patterns = (
        FlowPattern(0x000000FF, 0x000000E8, FlowKind.CALL),  # call rel32
        FlowPattern(0x000038FF, 0x000010FF, FlowKind.CALL),  # call r/m
        FlowPattern(0x0038FFF0, 0x0010FF40, FlowKind.CALL),  # the same with REX
        FlowPattern(0x000000FF, 0x000000C3, FlowKind.INDIRECT_JUMP),  # ret
        FlowPattern(0x000038FF, 0x000020FF, FlowKind.INDIRECT_JUMP),  # jmp r/m
        FlowPattern(0x0038FFF0, 0x0020FF40, FlowKind.INDIRECT_JUMP),  # the same with REX
        FlowPattern(0x0000FFFF, 0x0000CF48, FlowKind.EXCEPTION_RETURN),  # iretq
    )
    accesses_memory = (
        (0x0080FDF0, 0x00008940),  # mov between a register and memory, with REX
        (0x000080FD, 0x00000089),  # the same without
        (0x0080FDFF, 0x00008965),  # the same, with the base of gs
        (0x00FFFFF0, 0x00AE0F40),  # fxsave64, fxrstor64
    )
    fatal_entry = "kernel_fault"
    vectors_symbol = "vectors"
    vector_offsets: ClassVar[Sequence[int]] = tuple(range(0, 4096, 16))

    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """The guest puts the vector and the error code into the base of fs; cr2 is kept."""
        kept = register("fs_base")
        vector, error = kept >> 32, kept & 0xFFFFFFFF
        if vector == _DOUBLE_FAULT:
            # What could not be pushed.
            return f"store to {register('cr2') & self.code.mask:#x}"
        if vector != _PAGE_FAULT:
            return ""
        what = "jump to" if error & _FETCH else "store to" if error & _WRITE else "load from"
        address = register("cr2") & self.code.mask
        # Without an execute bit in the tables the CPU does not say that it was a fetch.
        return f"{'jump to' if address == pc else what} {address:#x}"

    @classmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """A call reaches modules; caches of instructions are coherent with those of data."""
        return frozenset({Property.COHERENT_FETCH})

    def linear_address(self, address: int) -> int | None:
        """Guests are identity-mapped (guests/arch/x86_64/mmu.S)."""
        return address if address in _MEMORY else None

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """The privilege level in cs is 0."""
        return not register("cs") & _PRIVILEGE

    def interrupt_mask(self, status: int) -> int:
        """rflags.IF."""
        return status & _IF

    def with_interrupts_masked(self, status: int) -> int:
        """rflags.IF."""
        return status & ~_IF

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``cli``."""
        return instruction == b"\xfa"

    def is_return(self, instruction: bytes) -> bool:
        """``ret``."""
        return instruction in (b"\xc3", b"\xf3\xc3")

    def is_conditional(self, instruction: bytes) -> bool:
        """Jumps on a condition, ``cmov`` and ``set``."""
        code = instruction.lstrip(bytes(_PREFIXES))
        if code[:1] == b"\x0f":
            return len(code) > 1 and code[1] >> 4 in (4, 8, 9)
        return bool(code) and (code[0] >> 4 == 7 or 0xE0 <= code[0] <= 0xE3)

    def is_store(self, instruction: bytes) -> bool:
        """What the disassembler shows with a memory operand that is written, or as a push."""
        listing = self.code.disassemble(instruction, 0)
        mnemonic, _, operands = (listing[0].text if listing else "").partition(" ")
        if mnemonic in ("push", "pushfq", "call") or mnemonic.startswith("stos"):
            return True
        destination = operands.partition(",")[0]
        return "[" in destination and mnemonic not in ("cmp", "test", "jmp", "nop", "lea", "bt")

    def result(self, text: str) -> Computes:
        """By the mnemonic."""
        if text.startswith(("cmp", "test", "j", "push", "call")):
            return Computes.NONE
        if text.startswith("mov"):
            return Computes.COPY
        return Computes.REORDERED if text.startswith("bswap") else Computes.NEW

    def memory_operand(self, text: str) -> str:
        """The size and the address, of operands without a segment."""
        operand = _OPERAND.search(text)
        return operand[0] if operand is not None and operand[1] in _SIZES else ""

    def accessed(self, text: str, registers: Mapping[str, int]) -> range:
        """The sum of the terms between the brackets."""
        operand = _OPERAND.fullmatch(self.memory_operand(text))
        if operand is None:
            return range(0)
        address = 0
        for sign, name, scale in _TERM.findall(operand[2]):
            if name not in registers and not name[0].isdigit():
                return range(0)
            value = registers[name] if name in registers else int(name, 0)
            address += int(f"{sign}1") * value * int(scale or 1)
        start = address & self.code.mask
        return range(start, start + _SIZES[operand[1]])

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """None is needed: a CPU sees its own stores to text."""
        return None
