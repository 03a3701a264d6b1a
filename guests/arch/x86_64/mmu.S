/* SPDX-License-Identifier: MIT */
/*
 * The address map, built by the assembler: everything at its physical address.
 *
 *	0x00000000..0x003fffff	a null pointer faults; a page for the start of other CPUs is here
 *	0x00200000..0x003fffff	user.c maps user programs here
 *	0x00400000..0x3fffffff	memory
 *	0xc0000000..0xffffffff	devices
 */
#include <asm/memory.h>

#define TABLE		(PTE_P | PTE_W | PTE_U | PTE_A)
#define MEMORY		(PTE_P | PTE_W | PTE_A | PTE_D)
#define LARGE		(MEMORY | PTE_PS)
#define DEVICE		(LARGE | PTE_PCD)
#define ENTRIES		512
#define LARGE_SIZE	0x200000
#define DEVICES		0xc0000000

	.section .data
	.balign	4096
	.globl	page_table
	.type	page_table, @object
page_table:
	.quad	page_table_3 + TABLE
	.fill	ENTRIES - 1, 8, 0
	.size	page_table, . - page_table

	.type	page_table_3, @object
page_table_3:
	.quad	page_table_low + TABLE
	.quad	0
	.quad	0
	.quad	page_table_devices + TABLE
	.fill	ENTRIES - 4, 8, 0
	.size	page_table_3, . - page_table_3

	/* The second entry is for user.c. */
	.globl	page_table_low
	.type	page_table_low, @object
page_table_low:
	.quad	page_table_trampoline + TABLE
	.quad	0
	.set	address, RAM_MAPPED
	.rept	ENTRIES - RAM_MAPPED / LARGE_SIZE
	.quad	address + LARGE
	.set	address, address + LARGE_SIZE
	.endr
	.size	page_table_low, . - page_table_low

	.type	page_table_devices, @object
page_table_devices:
	.set	address, DEVICES
	.rept	ENTRIES
	.quad	address + DEVICE
	.set	address, address + LARGE_SIZE
	.endr
	.size	page_table_devices, . - page_table_devices

	.type	page_table_trampoline, @object
page_table_trampoline:
	.fill	TRAMPOLINE_ADDRESS / 4096, 8, 0
	.quad	TRAMPOLINE_ADDRESS + MEMORY
	.fill	ENTRIES - TRAMPOLINE_ADDRESS / 4096 - 1, 8, 0
	.size	page_table_trampoline, . - page_table_trampoline
