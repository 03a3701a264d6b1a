# SPDX-License-Identifier: MIT
"""RISC-V with 64 bits: without compressed instructions, and beside it with them."""

from collections.abc import Mapping
from typing import ClassVar

from harness.isa.base import Isa
from harness.isa.riscv64.base import RiscV64Isa
from harness.isa.riscv64.compressed import RiscV64Compressed
from harness.isa.riscv64.sites import RiscV64Sites

_RVC = 1
"""In e_flags (psABI, "File Header")."""


class RiscV64(RiscV64Isa):
    """RV64G."""

    elf_flags: ClassVar[Mapping[int, type[Isa]]] = {_RVC: RiscV64Compressed}
    sites_type = RiscV64Sites

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64
