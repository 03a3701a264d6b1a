# SPDX-License-Identifier: MIT
"""AAPCS64; the kernel has its thread pointer in ``SP_EL0``, and of x18 nothing."""

import posixpath
from collections.abc import Mapping
from typing import ClassVar

from harness.isa.abi import Abi, AtSite, FrameRecord
from harness.isa.sites import Form


class AArch64Abi(Abi):
    """Registers of 64 bits, and of floating point all 128."""

    general_registers = (*(f"x{n}" for n in range(31)), "sp")
    status_registers = ("cpsr",)
    return_register = "x30"
    current_register = "SP_EL0"
    argument_registers = tuple(f"x{n}" for n in range(8))
    scratch = (*(f"x{n}" for n in range(19)), "x30")
    saved = tuple(f"x{n}" for n in range(19, 30))
    fixed = ("SP_EL0",)
    results = tuple(f"x{n}" for n in range(8))
    float_scratch = tuple(f"q{n}" for n in range(32) if not 8 <= n < 16)
    # Only their lower halves have to be kept, but nobody writes upper ones alone.
    float_saved = tuple(f"q{n}" for n in range(8, 16))
    float_results = tuple(f"q{n}" for n in range(8))
    float_arguments = tuple(f"q{n}" for n in range(8))
    # FPSR.QC; FPCR.RMode = toward plus infinity.
    float_status: ClassVar[Mapping[str, int]] = {"fpsr": 1 << 27, "fpcr": 1 << 22}
    stack_alignment = 16
    gdb_script = posixpath.join(posixpath.dirname(__file__), "gdb_unwinder.py")
    frame_record = FrameRecord("x29", 0)
    direct_call = ("x30", "x9")
    pt_regs = (*general_registers, "pc")

    def at_site(self, form: Form) -> AtSite:
        """A call of ``_mcount`` is one like any other; a patchable entry has all arguments live."""
        if form is not Form.PATCHABLE_ENTRY:
            return AtSite(live=(), moved={}, pinned=("x29", "x30", "sp"))
        live = tuple(f"x{n}" for n in range(9))
        return AtSite(live=live, moved={"x30": "x30"}, pinned=("x29", "x30", "sp"))

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """All 128 bits, of a register ``q0``."""
        return {f"v{register[1:]}.d.u": self.two_words(number)}
