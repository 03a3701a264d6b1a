# SPDX-License-Identifier: MIT
"""``arch/mips`` of a Linux tree."""

from harness.isa.linux import LinuxFiles
from harness.isa.sites import Form

MIPS_LINUX = LinuxFiles(
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
