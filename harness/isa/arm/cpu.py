# SPDX-License-Identifier: MIT
"""Cortex-A15 on QEMU's virt machine, without security and virtualization extensions.

Encodings: Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition, A5 and A8.8.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from harness.isa.cpu import Cpu, FlowKind, FlowPattern, Injection, Injector, Property

_MEMORY = range(1 << 30, 2 << 30)

_MSI_SETSPI_NS = 0x08020040
"""A register of the GICv2m frame of QEMU's virt machine; a physical address."""

_INJECTED_IRQ, _INJECTED_NMI = 80, 88
"""Interrupt and NMI for CPU 0 (guests/arch/arm/include/asm/gic.h)."""

_MODE, _USER, _ABORT = 0x1F, 0x10, 0x17
"""CPSR.M, and two of its values."""

_IRQ_AND_FIQ = 0xC0
"""CPSR.I and CPSR.F."""

_WRITE = 1 << 11
"""DFSR.WnR."""

FLOATING_POINT = (9, 10, 11)
"""The coprocessors of floating point: of halves, single and double precision."""

_ALWAYS, _UNCONDITIONAL = 0xE, 0xF
"""The two conditions that are none; the second one stands for another instruction."""


def _send_msi(to: Injector, cpu: int, nmi: bool) -> None:
    """A store to the GICv2m frame is a message-signalled interrupt, which is edge-triggered."""
    number = (_INJECTED_NMI if nmi else _INJECTED_IRQ) + cpu
    to.store(_MSI_SETSPI_NS, number.to_bytes(4, "little"))


class ArmCpu(Cpu):
    """The kernel runs in supervisor mode, identity-mapped."""

    injections: ClassVar[Mapping[str, Injection]] = {"msi": Injection(_send_msi, nmi=True)}
    flow_patterns: ClassVar[tuple[FlowPattern, ...]] = (
        FlowPattern(0x0F000000, 0x0B000000, FlowKind.CALL),  # bl
        FlowPattern(0xFE000000, 0xFA000000, FlowKind.CALL),  # blx to an address
        FlowPattern(0x0FFFFFF0, 0x012FFF30, FlowKind.CALL),  # blx to a register
        FlowPattern(0x0FFFFFF0, 0x012FFF10, FlowKind.INDIRECT_JUMP),  # bx
        FlowPattern(0x0FFFFFF0, 0x01A0F000, FlowKind.INDIRECT_JUMP),  # mov pc
        FlowPattern(0x0E10F000, 0x0410F000, FlowKind.INDIRECT_JUMP),  # ldr pc
        FlowPattern(0x0E10F010, 0x0610F000, FlowKind.INDIRECT_JUMP),  # ldr pc by a register
        FlowPattern(0xFE500000, 0xF8100000, FlowKind.EXCEPTION_RETURN),  # rfe
        FlowPattern(0x0E508000, 0x08508000, FlowKind.EXCEPTION_RETURN),  # ldm {.., pc}^
        FlowPattern(0x0E508000, 0x08108000, FlowKind.INDIRECT_JUMP),  # ldm {.., pc}
    )
    # With an immediate offset, also of floating point: all that setjmp() and __switch_to() have.
    accesses_memory: ClassVar[tuple[tuple[int, int], ...]] = ((0x06000000, 0x04000000),)
    fatal_entry = "report_exception"
    replays_sleep = True
    vectors_symbol = "vectors"
    # Without the first, reset, and the sixth, which is not used.
    vector_offsets: ClassVar[Sequence[int]] = (4, 8, 12, 16, 24, 28)

    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """By the fault address and status registers, which stay until the next abort."""
        if register("cpsr") & _MODE != _ABORT:
            return ""
        if register("IFAR") == pc & self.code.mask:
            return f"jump to {pc & self.code.mask:#x}"
        what = "store to" if register("DFSR") & _WRITE else "load from"
        return f"{what} {register('DFAR'):#x}"

    @classmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """``bl`` does not reach modules."""
        return frozenset({Property.FAR_MODULES})

    def linear_address(self, address: int) -> int | None:
        """Guests are identity-mapped (guests/arch/arm/mmu.S)."""
        return address if address in _MEMORY else None

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """CPSR.M is not user mode."""
        return register("cpsr") & _MODE != _USER

    def interrupt_mask(self, status: int) -> int:
        """CPSR.I and .F."""
        return status & _IRQ_AND_FIQ

    def with_interrupts_masked(self, status: int) -> int:
        """CPSR.I and .F."""
        return status | _IRQ_AND_FIQ

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``cpsid`` with ``i``, without a change of mode."""
        return self.code.value(instruction) & 0xFFFFFEBF == 0xF10C0080

    def is_return(self, instruction: bytes) -> bool:
        """``bx lr``, ``mov pc, lr``, and loads of pc from the stack."""
        word = self.code.value(instruction)
        return word in (0xE12FFF1E, 0xE1A0F00E, 0xE49DF004) or word & 0xFE5F8000 == 0xE81D8000

    def is_conditional(self, instruction: bytes) -> bool:
        """Every instruction with a condition."""
        return self.code.value(instruction) >> 28 not in (_ALWAYS, _UNCONDITIONAL)

    def is_store(self, instruction: bytes) -> bool:
        """Stores of one, two and several registers, also exclusive and of floating point."""
        word = self.code.value(instruction)
        if word >> 28 == _UNCONDITIONAL:
            # NEON's, and srs.
            return word & 0x0F300000 == 0x04000000 or word & 0x0E500000 == 0x08400000
        kind, load = word >> 25 & 7, word >> 20 & 1
        if kind == 0 and word & 0x90 == 0x90 and word & 0x60:
            # Halfwords and pairs: bit 5 without bit 6 is a halfword.
            return not load and (word & 0x60 != 0x40)
        if kind == 0 and word & 0x1800FF0 == 0x1800F90:
            return not load
        if kind in (2, 4):
            return not load
        if kind == 3:
            return not load and not word & 0x10
        if kind == 6:
            # Without the moves between the two kinds of registers.
            return word >> 8 & 15 in FLOATING_POINT and not load and word & 0x01A00000 != 0
        return False

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """ICIMVAU (``mcr p15, 0, rt, c7, c5, 1``): a line of CTR.IminLine (log2 of words)."""
        word = self.code.value(instruction)
        if word & 0x0FFF0FFF != 0x0E070F35:
            return None
        names = ("sp", "lr", "pc")
        number = word >> 12 & 15
        name = f"r{number}" if number < 13 else names[number - 13]
        line = 4 << (register("CTR") & 15)
        start = register(name) & self.code.mask & -line
        return range(start, start + line)
