# SPDX-License-Identifier: MIT
"""The psABI's LP64D; the kernel has its thread pointer in ``tp``, and nothing in ``gp``."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from harness.isa.abi import Abi, AtSite, FrameRecord
from harness.isa.sites import Form

_ARGUMENTS = tuple(f"a{n}" for n in range(8))
_TEMPORARIES = tuple(f"t{n}" for n in range(7))
# gdb's name of s0 is fp.
_SAVED = ("fp", *(f"s{n}" for n in range(1, 12)))


class RiscV64Abi(Abi):
    """Registers of 64 bits."""

    # By their numbers, without zero.
    general_registers = (
        *("ra", "sp", "gp", "tp", *_TEMPORARIES[:3]),
        *(*_SAVED[:2], *_ARGUMENTS, *_SAVED[2:], *_TEMPORARIES[3:]),
    )
    pt_regs = ("pc", *general_registers)
    status_registers = ("sstatus", "scause", "stval")
    return_register = "ra"
    current_register = "tp"
    argument_registers = _ARGUMENTS
    scratch = ("ra", *_TEMPORARIES, *_ARGUMENTS)
    saved = _SAVED
    fixed = ("tp", "gp")
    results = ("a0", "a1")
    float_scratch = (*(f"ft{n}" for n in range(12)), *(f"fa{n}" for n in range(8)))
    float_saved = tuple(f"fs{n}" for n in range(12))
    float_results = ("fa0", "fa1")
    float_arguments = tuple(f"fa{n}" for n in range(8))
    # The stub of QEMU 7.2 does not show fcsr.
    float_status: ClassVar[Mapping[str, int]] = {}
    stack_alignment = 16
    static_chain = "t2"
    frame_record = FrameRecord("fp", -16)
    printed = MappingProxyType({"s0": "fp"})
    direct_call = ("ra", "t0")

    def at_site(self, form: Form) -> AtSite:
        """A call of ``_mcount`` has ra in a0; a patchable entry has all arguments live."""
        if form is not Form.PATCHABLE_ENTRY:
            return AtSite(live=(), moved={}, pinned=("fp", "ra", "sp", "a0"))
        return AtSite(live=(*_ARGUMENTS, "t2"), moved={"ra": "ra"}, pinned=("fp", "ra", "sp"))

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """gdb takes the register for a union."""
        return {f"{register}.double": f"{number}.5"}
