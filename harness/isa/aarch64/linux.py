# SPDX-License-Identifier: MIT
"""``arch/arm64`` of a Linux tree."""

from harness.isa.linux import LinuxFiles

AARCH64_LINUX = LinuxFiles(
    directory="arm64",
    entry="ARM64",
    sources=("kernel/entry-ftrace.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    words=(
        ("floating_point = false", "Makefile", r"-mgeneral-regs-only"),
        # The unwinder looks for the frame pointer that it stands at.
        ('retp = "cookie"', "kernel/ftrace.c", r"\(void \*\)frame_pointer\)"),
    ),
)
