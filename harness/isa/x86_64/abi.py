# SPDX-License-Identifier: MIT
"""The System V psABI of AMD64; the kernel has its thread pointer in the base of gs."""

from collections.abc import Mapping
from typing import ClassVar

from harness.isa.abi import Abi, AtSite, FrameRecord
from harness.isa.sites import Form

_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")


class X8664Abi(Abi):
    """Registers of 64 bits.  A call leaves its return address on the stack."""

    general_registers = (
        *("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"),
        *(f"r{n}" for n in range(8, 16)),
    )
    status_registers = ("eflags", "cr2")
    pc_register = "rip"
    stack_register = "rsp"
    return_register = ""
    current_register = "gs_base"
    argument_registers = _ARGUMENTS
    scratch = ("rax", *_ARGUMENTS, "r10", "r11")
    saved = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    fixed = ("gs_base",)
    results = ("rax", "rdx")
    float_scratch = tuple(f"xmm{n}" for n in range(16))
    float_saved = ()
    float_results = ("xmm0", "xmm1")
    float_arguments = tuple(f"xmm{n}" for n in range(8))
    # MXCSR.PE, a flag that stays set.
    float_status: ClassVar[Mapping[str, int]] = {"mxcsr": 1 << 5}
    stack_alignment = 16
    static_chain = "r10"
    frame_record = FrameRecord("rbp", 0)

    def at_site(self, form: Form) -> AtSite:
        """In front of the prologue: all arguments are live, and so are al and the static chain."""
        return AtSite(live=(*_ARGUMENTS, "rax", "r10"), moved={}, pinned=("rsp", "rbp"))

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """All 128 bits of a vector register."""
        return {f"{register}.v2_int64": self.two_words(number)}
