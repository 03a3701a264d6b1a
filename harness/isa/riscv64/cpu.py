# SPDX-License-Identifier: MIT
"""CPUs of RISC-V on QEMU's virt machine.

Encodings: The RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set Listings" and
chapter "C", whose instructions have two bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from harness.errors import UsageError
from harness.isa.cpu import (
    Cpu,
    FlowKind,
    FlowPattern,
    Injection,
    Injector,
    Processor,
    Property,
)

_MEMORY = range(0x80000000, 0xC0000000)
_FENCE_I = 0x0000100F

_IMSIC_PAGES, _IMSIC_PAGE = 0x28000000, 0x1000
"""The supervisor's interrupt files of the virt machine with ``aia=aplic-imsic``."""

_MTIME = 0x0200BFF8
"""The counter of the virt machine's ACLINT, which ``time`` is read from."""

_INJECTED = 2
"""The message that guests take for an injected one (guests/arch/riscv64/include/asm/imsic.h)."""

_SSWI, _INJECTED_MARKS = 0x02F00000, 0x0C000100
"""Of ``aclint=on``, and what guests take for injected there (asm/aclint.h); 4 bytes a CPU."""

_FAULTS = {
    **dict.fromkeys((0, 1, 12), "jump to"),
    **dict.fromkeys((4, 5, 13), "load from"),
    **dict.fromkeys((6, 7, 15), "store to"),
}
"""scause of misaligned addresses, access and page faults (volume II, "scause Register")."""

_C_RET = 0x00008082
_C_STORES = (0b101, 0b110, 0b111)
"""The upper three bits of stores among those that access memory; loads have 001, 010 and 011."""

_PRED_W, _SUCC_W = 1 << 24, 1 << 20
"""Stores before a fence, and those behind it."""

_MACHINE_MODE = 3
"""In gdb's ``priv``."""
_MTIE = 1 << 7
"""mie.MTIE (volume II, "Machine Interrupt Registers")."""
_CSRW_STIMECMP_A0, _CSRW_STIMECMP_A1 = (
    instruction.to_bytes(4, "little") for instruction in (0x14D51073, 0x14D59073)
)

_SIE, _SPP = 1 << 1, 1 << 8
"""sstatus.SIE, and sstatus.SPP: whether the last trap came from the kernel."""


def _by_stores(*stores: tuple[int, int, int]) -> Injection:
    """Each stores a number to a CPU's place: an address, the distance between CPUs, the number."""

    def inject(to: Injector, cpu: int, nmi: bool) -> None:
        if nmi:
            raise UsageError("this machine can raise no NMI in a running kernel")
        for address, distance, number in stores:
            to.store(address + cpu * distance, number.to_bytes(4, "little"))

    return Injection(inject)


class RiscV64Cpu(Cpu):
    """The kernel runs in supervisor mode, identity-mapped."""

    injections: ClassVar[Mapping[str, Injection]] = {
        "imsic": _by_stores((_IMSIC_PAGES, _IMSIC_PAGE, _INJECTED)),
        "sswi": _by_stores((_INJECTED_MARKS, 4, 1), (_SSWI, 4, 1)),
    }
    flow_patterns = (
        FlowPattern(0x00000FFF, 0x000000EF, FlowKind.CALL),  # jal ra
        FlowPattern(0x00007FFF, 0x000000E7, FlowKind.CALL),  # jalr ra
        FlowPattern(0x00007FFF, 0x00000067, FlowKind.INDIRECT_JUMP),  # jr, ret
        # c.jalr; of register 0 it would be c.ebreak.
        *(
            FlowPattern(0x0000F07F | bit, 0x00009002 | bit, FlowKind.CALL)
            for bit in (1 << number for number in range(7, 12))
        ),
        FlowPattern(0x0000F07F, 0x00008002, FlowKind.INDIRECT_JUMP),  # c.jr, and ret
        FlowPattern(0xFFFFFFFF, 0x10200073, FlowKind.EXCEPTION_RETURN),  # sret
        FlowPattern(0xFFFFFFFF, 0x30200073, FlowKind.EXCEPTION_RETURN),  # mret
    )
    # Integer and floating-point loads and stores; of those of two bytes the upper three bits are
    # neither 000 nor 100.
    accesses_memory = (
        (0x0000005B, 0x00000003),
        *((bit | 0b11, bit | end) for bit in (1 << 13, 1 << 14) for end in (0b00, 0b10)),
    )
    unsaved_timer = "timer_interrupt"
    unsaved_clock = _MTIME
    fatal_entry = "report_exception"
    vectors_symbol = "vectors"
    vector_offsets: ClassVar[Sequence[int]] = (0,)

    def timer_runs(self, cpu: Processor) -> bool:
        """A stopped one has the deadline 0 (guests/arch/riscv64/timer.c)."""
        return bool(cpu.variable("tick_deadline", 8))

    def restart_timer(self, cpu: Processor, now: int) -> None:
        """QEMU's stub does not show ``stimecmp``; the guest knows what is in it.

        QEMU's timer still has a deadline of before the load.  One in the past would not replace it.
        Machine mode may write ``stimecmp`` on a CPU that has not begun too.  The machine's timer is
        always due here: it wakes a CPU that waits, and no interrupt is taken during a step.
        """
        deadline = cpu.variable("tick_deadline", 8)
        registers = {"a0": now + 1, "a1": deadline, "priv": _MACHINE_MODE, "mie": _MTIE}
        cpu.execute(_CSRW_STIMECMP_A0, _CSRW_STIMECMP_A1, registers=registers)

    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """By scause and stval, which stay until the next trap."""
        what = _FAULTS.get(register("scause"))
        return f"{what} {register('stval') & self.code.mask:#x}" if what else ""

    @classmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """``fence.i`` is for the executing hart only."""
        return frozenset(
            {
                Property.FAR_MODULES,
                Property.FRAME_RECORDS,
                Property.LOCAL_FETCH,
                Property.NO_NMI,
            }
        )

    def linear_address(self, address: int) -> int | None:
        """Guests are identity-mapped (guests/arch/riscv64/mmu.S)."""
        return address if address in _MEMORY else None

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """gdb's ``priv`` is not 0, user mode."""
        return bool(register("priv"))

    def interrupt_mask(self, status: int) -> int:
        """sstatus.SIE."""
        return status & _SIE

    def with_interrupts_masked(self, status: int) -> int:
        """sstatus.SIE."""
        return status & ~_SIE

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``csrrci`` of sstatus with SIE alone, into any register."""
        return self.code.value(instruction) & 0xFFFFF07F == 0x10017073

    def is_return(self, instruction: bytes) -> bool:
        """``ret``."""
        return self.code.value(instruction) in (0x00008067, _C_RET)

    def is_conditional(self, instruction: bytes) -> bool:
        """beq and its like, c.beqz and c.bnez."""
        word = self.code.value(instruction)
        return word & 0x7F == 0x63 or word & 0xC003 == 0xC001

    def orders_stores(self, instruction: bytes) -> bool:
        """``fence``, for stores at least on either side."""
        word = self.code.value(instruction)
        return word & 0x707F == 0x000F and bool(word & _PRED_W) and bool(word & _SUCC_W)

    def is_store(self, instruction: bytes) -> bool:
        """Integer and floating-point stores, and atomic operations but ``lr``."""
        word = self.code.value(instruction)
        opcode = word & 0x7F
        if len(instruction) == 2:
            return word & 1 == 0 and word >> 13 in _C_STORES
        return opcode in (0x23, 0x27) or (opcode == 0x2F and word >> 27 != 2)

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """``fence.i``, which is for all addresses."""
        return range(self.code.mask + 1) if self.code.value(instruction) == _FENCE_I else None
