# SPDX-License-Identifier: MIT
"""The CPU of `ArmCpu` whose kernel is in T32.

Encodings: Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition, A6 and A8.8.
"""

from collections.abc import Callable

from harness.isa.arm.cpu import FLOATING_POINT, ArmCpu
from harness.isa.cpu import FlowKind, FlowPattern

_IT = 0x0600FC00
"""CPSR.IT."""

_CONDITIONS = 14
"""Values of a condition that is one."""


def _two(first: int, second: int) -> int:
    """Two halfwords as `FlowPattern` has the bytes of an instruction: the first one is lower."""
    return second << 16 | first


def _flow(first: tuple[int, int], kind: FlowKind, second: tuple[int, int] = (0, 0)) -> FlowPattern:
    """A pattern by mask and value of each halfword."""
    return FlowPattern(_two(first[0], second[0]), _two(first[1], second[1]), kind)


_STORES_OF_ONE_HALFWORD = (
    (0xF800, 0x6000),  # str
    (0xF800, 0x7000),  # strb
    (0xF800, 0x8000),  # strh
    (0xF800, 0x9000),  # str to the stack
    (0xFE00, 0x5000),  # str by a register
    (0xFE00, 0x5200),  # strh by a register
    (0xFE00, 0x5400),  # strb by a register
    (0xFE00, 0xB400),  # push
    (0xF800, 0xC000),  # stm
)

_STORES_OF_TWO_HALFWORDS = (
    (0xFF10, 0xF800),  # str, strb, strh
    (0xFF30, 0xF900),  # NEON's
    (0xFFD0, 0xE880),  # stm
    (0xFFD0, 0xE900),  # stmdb
    (0xFFD0, 0xE800),  # srsdb
    (0xFFD0, 0xE980),  # srs
    (0xFE50, 0xE840),  # strd, strex
)


class ThumbCpu(ArmCpu):
    """Instructions of one or two halfwords."""

    flow_patterns = (
        _flow((0xF800, 0xF000), FlowKind.CALL, (0xD000, 0xD000)),  # bl
        _flow((0xF800, 0xF000), FlowKind.CALL, (0xD001, 0xC000)),  # blx to an address
        _flow((0xFF87, 0x4780), FlowKind.CALL),  # blx to a register
        _flow((0xFF87, 0x4700), FlowKind.INDIRECT_JUMP),  # bx
        _flow((0xFF87, 0x4687), FlowKind.INDIRECT_JUMP),  # mov pc
        _flow((0xFF00, 0xBD00), FlowKind.INDIRECT_JUMP),  # pop {.., pc}
        _flow((0xFF70, 0xF850), FlowKind.INDIRECT_JUMP, (0xF000, 0xF000)),  # ldr pc
        _flow((0xFFD0, 0xE890), FlowKind.INDIRECT_JUMP, (0x8000, 0x8000)),  # ldm {.., pc}
        _flow((0xFFD0, 0xE910), FlowKind.INDIRECT_JUMP, (0x8000, 0x8000)),  # ldmdb {.., pc}
        _flow((0xFFD0, 0xE810), FlowKind.EXCEPTION_RETURN),  # rfedb
        _flow((0xFFD0, 0xE990), FlowKind.EXCEPTION_RETURN),  # rfeia
        _flow((0xFFFF, 0xF3DE), FlowKind.EXCEPTION_RETURN, (0xFF00, 0x8F00)),  # subs pc, lr
    )
    accesses_memory = (
        (0xFE00, 0xF800),  # one register
        (0xFE00, 0xE800),  # several, two, or exclusive
        (0xFE00, 0xEC00),  # of floating point
        (0xF000, 0x5000),  # and all of one halfword
        (0xE000, 0x6000),
        (0xE000, 0x8000),
        (0xF800, 0x4800),
        (0xF600, 0xB400),
        (0xF000, 0xC000),
    )

    def in_block(self, status: int) -> bool:
        """CPSR.IT is not zero."""
        return bool(status & _IT)

    def masks_interrupts(self, instruction: bytes) -> bool:
        """``cpsid`` with ``i``, without a change of mode."""
        return len(instruction) == 2 and self.code.value(instruction) & ~5 == 0xB672

    def is_return(self, instruction: bytes) -> bool:
        """``bx lr``, ``mov pc, lr``, and loads of pc from the stack."""
        value = self.code.value(instruction)
        if len(instruction) == 2:
            return value in (0x4770, 0x46F7) or value >> 8 == 0xBD
        return value == 0xF85DFB04 or value & 0xFFFF8000 == 0xE8BD8000

    def is_conditional(self, instruction: bytes) -> bool:
        """Branches on a flag or a register, and ``it``, which stands in front of all else."""
        value = self.code.value(instruction)
        if len(instruction) == 2:
            if value >> 12 == 0xD:
                return value >> 8 & 15 < _CONDITIONS
            return value & 0xF500 == 0xB100 or (value >> 8 == 0xBF and bool(value & 15))
        return value & 0xF800D000 == 0xF0008000 and value >> 22 & 15 < _CONDITIONS

    def is_store(self, instruction: bytes) -> bool:
        """Stores of one, two and several registers, also exclusive and of floating point."""
        value = self.code.value(instruction)
        if len(instruction) == 2:
            return any(value & mask == code for mask, code in _STORES_OF_ONE_HALFWORD)
        first, second = value >> 16, value & 0xFFFF
        if first & 0xFE10 == 0xEC00:
            # Without the moves between the two kinds of registers.
            return second >> 8 & 15 in FLOATING_POINT and first & 0x1A0 != 0
        return any(first & mask == code for mask, code in _STORES_OF_TWO_HALFWORDS)

    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """As of `ArmCpu`: the encoding is the same with the condition that is always true."""
        if len(instruction) != 4 or self.code.value(instruction) >> 28 != 0xE:
            return None
        return super().fetch_maintenance(instruction, register)
