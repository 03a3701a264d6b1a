# SPDX-License-Identifier: MIT
"""``arch/riscv`` of a Linux tree."""

from harness.isa.linux import Linux, LinuxFiles

_FILES = LinuxFiles(
    directory="riscv",
    entry="RISCV",
    more_entries=("ARCH_RV64I",),
    sources=("kernel/mcount.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    # fd for floating point is left out of what C code is compiled for.
    words=(
        ("floating_point = false", "Makefile", r"-march=\$\(subst fd,,"),
        ("PREEMPTION = false", "Kconfig", r"select HAVE_FUNCTION_TRACER if .*!PREEMPTION"),
        ('graph_tracer = "slot"', "kernel/ftrace.c", r"^extern void ftrace_graph_call\(void\);"),
    ),
    of_patchable=(("kernel/mcount-dyn.S", "mcount-dyn.S"),),
    patchable_if_dynamic=r"CC_FLAGS_FTRACE\s*:=\s*-fpatchable-function-entry=",
)


class RiscV64Linux(Linux):
    """No kernel of it has been traced."""

    files = _FILES
