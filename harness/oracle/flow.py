# SPDX-License-Identifier: MIT
"""Which instruction words transfer control, as masks: what the plugin needs for its shadow stack.

Sources: MIPS Architecture For Programmers, volume II (opcode tables); Arm ARM, "Unconditional
branch (register)" and "Unconditional branch (immediate)".
"""

from enum import IntEnum
from typing import NamedTuple

from harness.errors import UsageError


class FlowKind(IntEnum):
    """What a transfer means to a stack of return addresses; the numbers are plugin.c's."""

    CALL = 1
    INDIRECT_JUMP = 2
    EXCEPTION_RETURN = 3


class FlowPattern(NamedTuple):
    """Words whose bits under ``mask`` equal ``value``; the first pattern that fits decides."""

    mask: int
    value: int
    kind: FlowKind


_MIPS = (
    FlowPattern(0xFC000000, 0x0C000000, FlowKind.CALL),  # jal
    FlowPattern(0xFC00F83F, 0x00000009, FlowKind.INDIRECT_JUMP),  # jalr $0: release 6 writes jr so
    FlowPattern(0xFC00003F, 0x00000009, FlowKind.CALL),  # jalr
    FlowPattern(0xFC00003F, 0x00000008, FlowKind.INDIRECT_JUMP),  # jr
    FlowPattern(0xFC1C0000, 0x04100000, FlowKind.CALL),  # bltzal, bgezal and the likely ones
    FlowPattern(0xFFFFFFFF, 0x42000018, FlowKind.EXCEPTION_RETURN),  # eret
)

_AARCH64 = (
    FlowPattern(0xFC000000, 0x94000000, FlowKind.CALL),  # bl
    FlowPattern(0xFEE00000, 0xD6200000, FlowKind.CALL),  # blr, blraa and the like
    FlowPattern(0xFEE00000, 0xD6000000, FlowKind.INDIRECT_JUMP),  # br, braa
    FlowPattern(0xFEE00000, 0xD6400000, FlowKind.INDIRECT_JUMP),  # ret, retaa
    FlowPattern(0xFFE00000, 0xD6800000, FlowKind.EXCEPTION_RETURN),  # eret
)

_PATTERNS = {"mips": _MIPS, "aarch64": _AARCH64}


def flow_patterns(isa_name: str) -> tuple[FlowPattern, ...]:
    """The patterns of an instruction set, by the name that ``harness.isa`` gives it."""
    patterns = _PATTERNS.get(isa_name)
    if patterns is None:
        raise UsageError(
            f"the oracle does not know how {isa_name} calls and returns",
            f"It knows {' and '.join(_PATTERNS)}.",
        )
    return patterns
