/* SPDX-License-Identifier: MIT */
/*
 * QEMU's virt machine: memory begins at 0x40000000, where QEMU puts the device tree. Addresses are
 * physical ones: head.S maps everything at its own address.
 *
 * The device tree is not read, so the boot stack takes its place: what lies below is not mapped,
 * and a stack that overflows faults instead of growing into the kernel.
 */
#define ARCH_EH_FRAME EXCLUDE_FILE(*.user.o) .eh_frame

#include <asm/elf.lds.h>
#include <linux/module.lds.h>
#include <linux/vmlinux.lds.h>

#define RAM_ADDRESS 0x40000000
#define BOOT_STACK_SIZE 0x100000
#define LINK_ADDRESS 0x40200000

OUTPUT_ARCH(arm)
ENTRY(_start)

SECTIONS
{
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
	ELF_SECTION(.ARM.attributes)

	/DISCARD/ : { DISCARDED *(.ARM.exidx*) *(.ARM.extab*) *.user.o(.eh_frame) }
}
