# SPDX-License-Identifier: MIT
"""``arch/arm64`` of a Linux tree."""

from harness.isa.linux import LinuxFiles

# The unwinder looks for the frame pointer that it stands at.
_RETP = r"\(void \*\)frame_pointer\)"

AARCH64_LINUX = LinuxFiles(
    directory="arm64",
    entry="ARM64",
    sources=("kernel/entry-ftrace.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    words=(
        ("floating_point = false", "Makefile", r"-mgeneral-regs-only"),
        ('retp = "cookie"', "kernel/ftrace.c", _RETP),
    ),
    features=(("FUNCTION_GRAPH_RET_ADDR_PTR", "kernel/ftrace.c", _RETP),),
)
