# SPDX-License-Identifier: MIT
"""CPUs of MIPS on QEMU's Malta board.

Encodings: MIPS32 and MIPS64 Architecture for Programmers, volume II.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from harness.isa.cpu import (
    Cpu,
    FlowKind,
    FlowPattern,
    Injection,
    Injector,
    Processor,
    Property,
)
from harness.isa.mips.abi import general_registers

_REGION = 256 << 20
_SEGMENT = 512 << 20
_XKPHYS, _PHYSICAL = 2, (1 << 59) - 1
"""Bits 63 and 62 of addresses that are mapped directly, and the bits behind the cache attribute."""

_SPECIAL, _REGIMM, _CACHE = 0x00, 0x01, 0x2F
_SYNCI = 0x1F
_HIT_INVALIDATE_I = 0x10

_SOFTWARE_INTERRUPT_0 = 1 << 8
"""Cause.IP0 (MIPS Architecture For Programmers, volume III, "Cause Register")."""

_LOADS, _STORES = (2, 4), (1, 3, 5)
"""Cause.ExcCode of faults: TLBL and AdEL, Mod, TLBS and AdES; the same volume."""

_BRANCH_DELAY = 1 << 31
"""Cause.BD: the exception was taken in a delay slot."""

_DISABLE_COUNT = 1 << 27
"""Cause.DC: Count stands still."""

_SYNCI_STEP = 32
"""SYNCI_Step of ``rdhwr`` on QEMU's release 2 CPUs."""


def _set_software_interrupt(to: Injector, cpu: int, nmi: bool) -> None:
    """QEMU treats a write of Cause by gdb like an ``mtc0``."""
    to.set_bits(cpu, "cause", _SOFTWARE_INTERRUPT_0)


class MipsCpu(Cpu):
    """Branches have delay slots; the kernel runs in kseg0."""

    injections: ClassVar[Mapping[str, Injection]] = {
        "software-interrupt": Injection(_set_software_interrupt)
    }
    flow_patterns = (
        FlowPattern(0xFC000000, 0x0C000000, FlowKind.CALL),  # jal
        FlowPattern(0xFC00F83F, 0x00000009, FlowKind.INDIRECT_JUMP),  # jalr $0: release 6's jr
        FlowPattern(0xFC00003F, 0x00000009, FlowKind.CALL),  # jalr
        FlowPattern(0xFC00003F, 0x00000008, FlowKind.INDIRECT_JUMP),  # jr
        FlowPattern(0xFC1C0000, 0x04100000, FlowKind.CALL),  # bltzal, bgezal and the likely ones
        FlowPattern(0xFFFFFFFF, 0x42000018, FlowKind.EXCEPTION_RETURN),  # eret
    )
    # Without ldl, ldr, sdl and sdr.
    accesses_memory = ((0x80000000, 0x80000000),)
    delay_slot = 4
    unsaved_timer = "timer_interrupt"
    vectors_symbol = "exception_vectors"
    # TLB refill, XTLB refill, cache error, general, interrupts with Cause.IV set.
    vector_offsets: ClassVar[Sequence[int]] = (0, 0x80, 0x100, 0x180, 0x200)
    edge_memory = "256M"
    fatal_entry = "fatal_exception"

    def restart_timer(self, cpu: Processor, now: int) -> None:
        """QEMU sets the timer when Count goes on."""
        cause = cpu.register("cause")
        cpu.set_register("cause", cause ^ _DISABLE_COUNT)
        cpu.set_register("cause", cause)

    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """By Cause and BadVAddr, which stay until the next exception."""
        code, bad = register("cause") >> 2 & 31, register("bad") & self.code.mask
        if code in _STORES:
            return f"store to {bad:#x}"
        if code not in _LOADS:
            return ""
        return f"jump to {bad:#x}" if bad == pc else f"load from {bad:#x}"

    def faulting(self, register: Callable[[str], int], pc: int) -> int:
        """Behind the branch if Cause.BD says so."""
        return pc + self.delay_slot if register("cause") & _BRANCH_DELAY else pc

    @classmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """Modules use long calls, which reach any address."""
        return frozenset({Property.HIDDEN_RETURNS, Property.UNMAPPED_TEXT})

    def linear_address(self, address: int) -> int | None:
        """kseg0 (cached) and kseg1 (uncached) map the first 512 MiB, and xkphys all memory."""
        address &= self.code.mask
        if self.code.bits == 64 and address >> 62 == _XKPHYS:
            return address & _PHYSICAL
        segment = address & ~(_SEGMENT - 1)
        return address - segment if segment in (self._kseg0, self._kseg0 + _SEGMENT) else None

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """Status.KSU is 0, or .ERL or .EXL is set (volume III, "Status Register")."""
        status = register("sr")
        return not status & 0x18 or bool(status & 6)

    def with_interrupts_masked(self, status: int) -> int:
        """Status.IE."""
        return status & ~1

    def interrupt_mask(self, status: int) -> int:
        """Status.IM, .ERL, .EXL and .IE (volume III, "Status Register")."""
        return status & 0xFF07

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``di``."""
        return self.code.value(instruction) & 0xFFE0FFFF == 0x41606000

    def is_return(self, instruction: bytes) -> bool:
        """``jr ra`` with or without a hint; in release 6 ``jalr zero, ra``."""
        return self.code.value(instruction) & 0xFFFFF83E == 0x03E00008

    def is_conditional(self, instruction: bytes) -> bool:
        """Branches that compare, movz and movn; beq of zero and zero is ``b``."""
        word = self.code.value(instruction)
        opcode = word >> 26
        if opcode == _SPECIAL:
            return word & 0x3F in (0x0A, 0x0B)
        if opcode == _REGIMM:
            return word >> 16 & 0x1F < 4
        return (4 <= opcode <= 7 or 0x14 <= opcode <= 0x17) and word >> 16 != 0x1000

    def is_store(self, instruction: bytes) -> bool:
        """sb, sh, sw, sd and the like, coprocessor stores, and sc."""
        opcode = self.code.value(instruction) >> 26
        return 0x28 <= opcode <= 0x2E or opcode in (0x38, 0x39, 0x3C, 0x3D, 0x3F, 0x2C)

    def has_delay_slot(self, instruction: bytes) -> bool:
        """All branches and jumps of these releases."""
        word = self.code.value(instruction)
        opcode = word >> 26
        if opcode == _SPECIAL:
            return word & 0x3F in (0x08, 0x09)
        if opcode == _REGIMM:
            return word >> 16 & 0x1F < 4 or 0x10 <= word >> 16 & 0x1F < 0x14
        return 2 <= opcode <= 7 or 0x14 <= opcode <= 0x17

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """``synci``, and ``cache`` on the primary instruction cache by address."""
        word = self.code.value(instruction)
        opcode, base, field = word >> 26, word >> 21 & 31, word >> 16 & 31
        if (opcode, field) not in ((_REGIMM, _SYNCI), (_CACHE, _HIT_INVALIDATE_I)):
            return None
        offset = word & 0xFFFF
        address = (
            register(general_registers(self.code)[base]) + offset - (offset >> 15 << 16)
            & self.code.mask
        )
        start = address & -_SYNCI_STEP
        return range(start, start + _SYNCI_STEP)

    def edges(self, size: int) -> tuple[int, ...]:
        """The first and the last site in kseg0's first region, and the first site beyond it.

        Behind that region there is no memory for the second instruction of a site.
        """
        first, last = self._kseg0, self._kseg0 + _REGION
        return (first, *(at for at in (last - 8, last - 4) if at + size <= last))

    @property
    def _kseg0(self) -> int:
        return -(1 << 31) & self.code.mask
