/* SPDX-License-Identifier: MIT */
#include <linux/vmlinux.lds.h>

OUTPUT_ARCH(mips)
ENTRY(kernel_entry)

SECTIONS
{
	/* kseg0: unmapped and cached. The first megabyte belongs to QEMU's boot stub. */
#ifdef CONFIG_64BIT
	. = 0xffffffff80100000;
#else
	. = 0x80100000;
#endif
	KERNEL_TEXT
	KERNEL_RODATA
	KERNEL_DATA
	KERNEL_RESERVED

	/* For a run-time linker, which there is not. */
	/DISCARD/ : { *(.reginfo) *(.MIPS.*) *(.pdr) *(.options) *(.eh_frame) }
}
