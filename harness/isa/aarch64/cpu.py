# SPDX-License-Identifier: MIT
"""CPUs of AArch64 on QEMU's virt machine.

Encodings: Arm Architecture Reference Manual, C6.2 (B, BL, BLR, BR, ERET, MSR, RET, SYS).
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar

from harness.isa.cpu import Cpu, FlowKind, FlowPattern, Injection, Injector, Property

_MEMORY = range(1 << 30, 2 << 30)
_PLAIN_BITS = 39
"""Bits below the signature of a return address, with 39-bit virtual addresses."""

_MSI_SETSPI_NS = 0x08020040
"""A register of the GICv2m frame of QEMU's virt machine; a physical address."""

_INJECTED_IRQ, _INJECTED_NMI = 80, 88
"""Interrupt and NMI for CPU 0 (guests/arch/aarch64/include/asm/gic.h)."""

_INSTRUCTION_ABORTS, _DATA_ABORTS = (0x21, 0x22), (0x25,)
"""ESR_EL1.EC of faults at EL1, with the alignment of the pc (D17.2.37, ESR_EL1)."""

_WRITE = 1 << 6
"""ESR_EL1.WnR of a data abort."""

_SIGNS = ("-mbranch-protection=standard", "-mbranch-protection=*pac-ret*")
_LANDS = ("-mbranch-protection=standard", "-mbranch-protection=*bti*")


def _send_msi(to: Injector, cpu: int, nmi: bool) -> None:
    """A store to the GICv2m frame is a message-signalled interrupt, which is edge-triggered."""
    number = (_INJECTED_NMI if nmi else _INJECTED_IRQ) + cpu
    to.store(_MSI_SETSPI_NS, number.to_bytes(4, "little"))


class AArch64Cpu(Cpu):
    """The kernel runs at EL1, identity-mapped."""

    injections: ClassVar[Mapping[str, Injection]] = {"msi": Injection(_send_msi, nmi=True)}
    flow_patterns = (
        FlowPattern(0xFC000000, 0x94000000, FlowKind.CALL),  # bl
        FlowPattern(0xFEE00000, 0xD6200000, FlowKind.CALL),  # blr, blraa and the like
        FlowPattern(0xFEE00000, 0xD6000000, FlowKind.INDIRECT_JUMP),  # br, braa
        FlowPattern(0xFEE00000, 0xD6400000, FlowKind.INDIRECT_JUMP),  # ret, retaa
        FlowPattern(0xFFE00000, 0xD6800000, FlowKind.EXCEPTION_RETURN),  # eret
    )
    # Without SVE's.
    accesses_memory = ((0x0A000000, 0x08000000),)
    fatal_entry = "report_exception"
    # Else a replay hangs that passes an instruction at which the recording was stopped.
    replays_sleep = True
    vectors_symbol = "vectors"
    vector_offsets: ClassVar[Sequence[int]] = range(0, 0x800, 0x80)

    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """By ESR_EL1 and FAR_EL1, which stay until the next exception."""
        syndrome, address = register("ESR_EL1"), register("FAR_EL1")
        if syndrome >> 26 in _INSTRUCTION_ABORTS:
            return f"jump to {address:#x}"
        if syndrome >> 26 in _DATA_ABORTS:
            return f"{'store to' if syndrome & _WRITE else 'load from'} {address:#x}"
        return ""

    @classmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """Branch protection depends on the flags."""
        found = {Property.FAR_MODULES, Property.FRAME_RECORDS}
        for has, patterns in ((Property.SIGNED_RETURNS, _SIGNS), (Property.LANDING_PADS, _LANDS)):
            if any(fnmatchcase(flag, pattern) for flag in cflags for pattern in patterns):
                found.add(has)
        return frozenset(found)

    def linear_address(self, address: int) -> int | None:
        """Guests are identity-mapped (guests/arch/aarch64/mmu.S)."""
        return address if address in _MEMORY else None

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """PSTATE.EL is not 0."""
        return bool(register("cpsr") & 0xC)

    def with_interrupts_masked(self, status: int) -> int:
        """PSTATE.DAIF."""
        return status | 0x3C0

    def interrupt_mask(self, status: int) -> int:
        """PSTATE.D, .A, .I and .F."""
        return status & 0x3C0

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``msr daifset, #imm``."""
        return self.code.value(instruction) & 0xFFFFF0FF == 0xD50340DF

    def is_return(self, instruction: bytes) -> bool:
        """``ret`` with any register, ``retaa`` and ``retab``."""
        word = self.code.value(instruction)
        return word & 0xFFFFFC1F == 0xD65F0000 or word in (0xD65F0BFF, 0xD65F0FFF)

    def is_conditional(self, instruction: bytes) -> bool:
        """b.cond, cbz, cbnz, tbz, tbnz, csel and its like, ccmp and ccmn."""
        word = self.code.value(instruction)
        return (
            word & 0xFF000010 == 0x54000000
            or word & 0x7C000000 == 0x34000000
            or word & 0x3FE00000 in (0x1A800000, 0x3A400000)
        )

    def orders_stores(self, instruction: bytes) -> bool:
        """``dmb`` and ``dsb``, of the inner shareable domain or wider, for stores or for all."""
        word = self.code.value(instruction)
        return word & 0xFFFFF0DF == 0xD503309F and word >> 8 & 15 in (10, 11, 14, 15)

    def is_store(self, instruction: bytes) -> bool:
        """Loads and stores, without those that are always loads."""
        word = self.code.value(instruction)
        if word & 0x0A000000 != 0x08000000:
            return False
        return not (word & 0x38000000 == 0x18000000 or word & 0x00400000)

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """``ic ivau``: a line of CTR_EL0.IminLine (log2 of words)."""
        word = self.code.value(instruction)
        if word & ~31 != 0xD50B7520:
            return None
        number = word & 31
        address = register(f"x{number}") & self.code.mask if number < 31 else 0
        line = 4 << (register("CTR_EL0") & 15)
        start = address & -line
        return range(start, start + line)

    def plain_address(self, word: int) -> int:
        """The signature is above the address bits."""
        return word & (1 << _PLAIN_BITS) - 1

    def after_indirect_branch(self, registers: Mapping[str, int]) -> dict[str, int]:
        """PSTATE.BTYPE as after ``br x16``."""
        return {"cpsr": registers["cpsr"] & ~0xC00 | 0x400}
