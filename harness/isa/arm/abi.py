# SPDX-License-Identifier: MIT
"""AAPCS with VFP arguments; the kernel has its thread pointer in TPIDRPRW."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from harness.isa.abi import Abi, AtSite
from harness.isa.sites import Form

_FLOATS = tuple(f"d{n}" for n in range(32))


class ArmAbi(Abi):
    """Registers of 32 bits, and of floating point all 64 of each ``d``.

    Frames of gcc are those of ``-mapcs-frame``: fp, the caller's sp, lr and pc are pushed together;
    those of clang are fp and lr.  gdb calls fp r11.
    """

    general_registers = (*(f"r{n}" for n in range(13)), "sp", "lr")
    printed = MappingProxyType({"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"})
    status_registers = ("cpsr",)
    return_register = "lr"
    current_register = "TPIDRPRW"
    argument_registers = tuple(f"r{n}" for n in range(4))
    scratch = ("r0", "r1", "r2", "r3", "r12", "lr")
    saved = tuple(f"r{n}" for n in range(4, 12))
    fixed = ("TPIDRPRW",)
    results = ("r0", "r1")
    float_scratch = (*_FLOATS[:8], *_FLOATS[16:])
    float_saved = _FLOATS[8:16]
    float_results = _FLOATS[:8]
    float_arguments = _FLOATS[:8]
    # FPSCR.QC, and FPSCR.RMode = toward plus infinity.
    float_status: ClassVar[Mapping[str, int]] = {"fpscr": 1 << 27 | 1 << 22}
    stack_alignment = 8
    static_chain = "r12"

    def at_site(self, form: Form) -> AtSite:
        """Arguments are live; lr is pushed in front of the site, and has its value behind it."""
        return AtSite(
            live=self.argument_registers,
            moved={"lr": "lr"},
            pinned=("r11", "lr", "sp"),
            pops=4,
        )

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """gdb takes the register for a union."""
        return {f"{register}.u64": f"0x{0x0123456789ABCDEF * (2 * number + 1) & (1 << 63) - 1:x}"}
