# SPDX-License-Identifier: MIT
"""o32 and n64 of the MIPS ABI handbooks; ``gp`` is the kernel's thread pointer."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from harness.isa.abi import Abi, AtSite
from harness.isa.code import Code
from harness.isa.sites import Form

# `sw` and `sd` of ra to an offset from sp; `swl`, `sdl`, `swr` and `sdr` of the same.
_UNUSUAL_STORES = {
    (0xAFBF, "big"): 0xABBF,
    (0xFFBF, "big"): 0xB3BF,
    (0xAFBF, "little"): 0xBBBF,
    (0xFFBF, "little"): 0xB7BF,
}

_SAVED = (*(f"s{n}" for n in range(8)), "s8")


def arguments(code: Code) -> tuple[str, ...]:
    """The registers that carry integer arguments."""
    return tuple(f"a{n}" for n in range(8 if code.bits == 64 else 4))


def temporaries(code: Code) -> tuple[str, ...]:
    """Those that lie behind them."""
    return tuple(f"t{n}" for n in range(4 if code.bits == 64 else 8))


def _printed(general: Sequence[str]) -> dict[str, str]:
    """Capstone prints o32's names, those of registers 8 to 15 on n64 too, and fp for the last."""
    return {f"t{n}": general[8 + n] for n in range(8)} | {"fp": "s8"}


def general_registers(code: Code) -> tuple[str, ...]:
    """All 32, by their numbers."""
    return (
        *("zero", "at", "v0", "v1", *arguments(code), *temporaries(code)),
        *(*_SAVED[:8], "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"),
    )


class MipsAbi(Abi):
    """The 32 registers have the names of the ABI, as gdb has them."""

    # gdb's own names: QEMU describes no MIPS registers to it.
    status_registers = ("sr", "cause", "bad", "hi", "lo")
    return_register = "ra"
    current_register = "gp"
    saved = _SAVED
    fixed = ("gp",)
    static_chain = "v0"
    results = ("v0", "v1")
    # gdb asks for registers without a name, and QEMU 10 answers with an error, at which gdb's
    # "info frame" ends.  All registers come with the packet "g".
    gdb_settings: ClassVar[tuple[str, ...]] = ("remote fetch-register-packet off",)
    # FCSR.FS, and .RM = toward zero.
    float_status: ClassVar[Mapping[str, int]] = {"fsr": 0x01000001}

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        n64 = code.bits == 64
        self.argument_registers = arguments(code)
        self.general_registers = general_registers(code)
        self.printed = _printed(self.general_registers)
        self.scratch = (
            *("at", "v0", "v1", *arguments(code), *temporaries(code)),
            *("t8", "t9", "ra", "hi", "lo"),
        )
        self.first_syscall = 5000 if n64 else 4000
        float_saved = range(24, 32) if n64 else range(20, 32)
        self.float_scratch = tuple(f"f{n}" for n in range(32) if n not in float_saved)
        self.float_saved = tuple(f"f{n}" for n in float_saved)
        self.float_results = ("f0", "f2") if n64 else ("f0", "f1", "f2", "f3")
        self.float_arguments = tuple(f"f{n}" for n in range(12, 20 if n64 else 16))
        self.stack_alignment = 16 if n64 else 8
        self.home_area = 0 if n64 else 16

    def at_site(self, form: Form) -> AtSite:
        """``move at,ra`` stands in front; v0 is a nested function's static chain."""
        # What -mmcount-ra-address passes the place of the return address in.
        ra_address = self.general_registers[12]
        return AtSite(
            live=(self.static_chain, *self.argument_registers),
            moved={"ra": "at"},
            pinned=("at", "ra", ra_address, "k0", "k1", "gp", "sp", "zero"),
        )

    def unusual_store(self, instruction: bytes, cflags: Sequence[str]) -> bytes | None:
        """One half of an unaligned store, which release 6 lacks: all of an aligned one."""
        if any(flag.startswith("-march=") and flag.endswith("r6") for flag in cflags):
            return None
        order = self.code.byteorder
        word = int.from_bytes(instruction, order)
        unusual = _UNUSUAL_STORES.get((word >> 16, order))
        return None if unusual is None else (unusual << 16 | word & 0xFFFF).to_bytes(4, order)

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """A number of its own; gdb gives it the format that the register has."""
        return {register: f"{number}.5"}
