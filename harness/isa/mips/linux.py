# SPDX-License-Identifier: MIT
"""Linux on mips, and ``arch/mips`` of a Linux tree."""

from collections.abc import Callable, Mapping

from harness.errors import GuestError
from harness.isa.code import Code
from harness.isa.cpu import Cpu
from harness.isa.linux import Linux, LinuxFiles
from harness.isa.mips.sites import MipsSites
from harness.isa.sites import Form, Sites, symbol_of

_B, _IMMEDIATE = 0x10000000, 0xFFFF

_FILES = LinuxFiles(
    directory="mips",
    entry="MIPS",
    sources=("kernel/mcount.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    words=(
        ("floating_point = false", "Makefile", r"-msoft-float"),
        ('sites_told_by = "address"', "kernel/ftrace.c", r"core_kernel_text\(ip\) \?"),
        (
            "mips_sites = 2013",
            "kernel/ftrace.c",
            r"ftrace_modify_code\(MCOUNT_ADDR, INSN_NOP\)",
        ),
    ),
    makefile_forms=((r"^[^#]*-mmcount-ra-address\b", Form.MCOUNT_RA_ADDRESS),),
)


class MipsLinux(Linux):
    """Functions begin with a gate in the kernel, and with long calls in modules."""

    files = _FILES
    page_object = "invalid_pte_table"
    switch = ("resume", "ret_from_fork", "ret_from_kernel_thread")
    vectors = "ebase"
    direct = False
    longest = 8

    def __init__(self, code: Code, sites: Sites, cpu: Cpu) -> None:
        super().__init__(code, sites, cpu)
        self._mips = MipsSites(code)

    def codes(
        self, address: int, symbols: Mapping[str, int], module: bytes = b""
    ) -> tuple[bytes, bytes]:
        """A call goes behind the gate at ``ftrace_caller`` and the instruction behind it.

        A module's record is the beginning of a long call, disabled by a branch over the rest of it;
        on o32 the second instruction is also removed.
        """
        if not module:
            gate = symbol_of(symbols, "ftrace_caller")
            return self._mips.nop, self._mips.encode_call(address, gate + 8)
        length = 8 if self.code.bits == 32 else 4
        load = self._mips.encode_address(symbol_of(symbols, "_mcount"))[:length]
        found = module[:length]
        if found != load and self.code.value(found[:4]) & ~_IMMEDIATE != _B:
            raise GuestError(f"the record at {self.code.hex(address)} is not of a long call")
        return found, load

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """Status.KSU, .ERL and .EXL are 0, and .IE is set (volume III, "Status Register")."""
        return register("sr") & 0x1F == 1
