/* SPDX-License-Identifier: MIT */
/*
 * QEMU's virt machine: memory begins at 0x40000000, where QEMU puts the device tree. Addresses are
 * physical ones: head.S maps everything at its own address.
 */
#include <linux/vmlinux.lds.h>

#define LINK_ADDRESS 0x40200000

OUTPUT_ARCH(aarch64)
ENTRY(_start)

SECTIONS
{
	. = LINK_ADDRESS;
	KERNEL_TEXT
	KERNEL_RODATA
	KERNEL_DATA
	KERNEL_RESERVED

	/DISCARD/ : { *(.comment) *(.eh_frame) *(.interp) *(.dynamic) }
}
