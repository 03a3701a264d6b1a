/* SPDX-License-Identifier: MIT */
/*
 * QEMU's virt machine: memory begins at 0x80000000, where the boot ROM jumps to. All addresses are
 * physical: mmu.S maps everything at its own address. The boot stack is behind the few instructions
 * there: nothing is mapped below memory, so that a stack overflow faults.
 */
#include <linux/module.lds.h>
#include <linux/vmlinux.lds.h>

#define RAM_ADDRESS 0x80000000
#define BOOT_STACK_SIZE 0x100000
#define LINK_ADDRESS 0x80200000

OUTPUT_ARCH(riscv)
ENTRY(_start)

SECTIONS
{
	. = RAM_ADDRESS;
	.reset : { KEEP(*(.reset.text)) }
	. = RAM_ADDRESS + BOOT_STACK_SIZE;
	__boot_stack_end = .;

	. = LINK_ADDRESS;
	KERNEL_TEXT
	KERNEL_RODATA
	KERNEL_EH_FRAME
	KERNEL_DATA
	KERNEL_RESERVED
	KERNEL_MODULES
	ELF_DETAILS
	ELF_SECTION(.riscv.attributes)

	/DISCARD/ : { DISCARDED }
}
