# SPDX-License-Identifier: MIT
"""``arch/arm`` of a Linux tree."""

from harness.isa.linux import Linux, LinuxFiles

_FILES = LinuxFiles(
    directory="arm",
    entry="ARM",
    sources=("kernel/entry-ftrace.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    more=(("kernel/insn.c", "insn.c"), ("include/asm/insn.h", "include/asm/insn.h")),
    words=(("floating_point = false", "Makefile", r"-msoft-float"),),
)


class ArmLinux(Linux):
    """No kernel of it has been traced."""

    files = _FILES
