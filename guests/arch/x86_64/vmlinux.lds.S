/* SPDX-License-Identifier: MIT */
/*
 * QEMU's q35 machine: the firmware uses the first mebibyte of memory. All addresses are physical:
 * mmu.S maps everything at its own address, and nothing below the boot stack, so that a stack
 * overflow faults.
 */
#include <asm/memory.h>
#include <linux/module.lds.h>
#include <linux/vmlinux.lds.h>

OUTPUT_ARCH(i386:x86-64)
ENTRY(_start)

SECTIONS
{
	. = RAM_MAPPED;
	. = . + BOOT_STACK_SIZE;
	__boot_stack_end = .;

	. = LINK_ADDRESS;
	KERNEL_TEXT
	.note.pvh : { KEEP(*(.note.pvh)) }
	KERNEL_RODATA
	KERNEL_EH_FRAME
	KERNEL_DATA
	KERNEL_RESERVED
	KERNEL_MODULES
	ELF_DETAILS

	/DISCARD/ : { DISCARDED *(.note.gnu.property) }
}
