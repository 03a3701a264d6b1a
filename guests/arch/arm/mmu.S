/* SPDX-License-Identifier: MIT */
/*
 * The address map, built by the assembler: everything at its physical address, in 1-MiB sections.
 *
 *	0x00000000..0x07ffffff	a null pointer faults; user.c maps user programs here
 *	0x08000000..0x3fdfffff	devices
 *	0x3fe00000..0x3fffffff	not mapped: the boot stack above it overflows into a fault
 *	0x40000000..0x7fffffff	memory, executable by the kernel
 */
#include <asm/cp15.h>

#define DEVICE			(SECTION | SECTION_B | SECTION_XN | SECTION_KERNEL)
#define MEMORY			(SECTION | SECTION_B | SECTION_C | SECTION_TEX0 | SECTION_S | \
				 SECTION_KERNEL)

#define DEVICES			0x080
#define DEVICES_END		0x3fe
#define RAM			0x400
#define RAM_END			0x800

	/* Entries of the sections from \first to \last - 1. */
	.macro	sections first, last, kind
	.set	number, \first
	.rept	\last - \first
	.long	(number << 20) + \kind
	.set	number, number + 1
	.endr
	.endm

	.section .data
	.balign	0x4000
	.globl	page_table
	.type	page_table, %object
page_table:
	.fill	DEVICES, 4, 0
	sections DEVICES, DEVICES_END, DEVICE
	.fill	RAM - DEVICES_END, 4, 0
	sections RAM, RAM_END, MEMORY
	.fill	0x1000 - RAM_END, 4, 0
	.size	page_table, . - page_table
