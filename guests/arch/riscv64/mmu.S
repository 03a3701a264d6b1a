/* SPDX-License-Identifier: MIT */
/*
 * The address map, built by the assembler (Sv39): everything at its physical address.
 *
 *	0x00000000..0x01ffffff	a null pointer faults; user.c maps user programs here
 *	0x02000000..0x3fffffff	devices
 *	0x80000000..0xbfffffff	memory, executable in supervisor mode
 */
#include <asm/csr.h>

#define DEVICE		(PTE_V | PTE_R | PTE_W | PTE_G | PTE_A | PTE_D)
#define MEMORY		(DEVICE | PTE_X)
#define ENTRIES		512
#define LEVEL1_SIZE	0x40000000
#define LEVEL2_SIZE	0x200000
#define DEVICES		0x02000000
#define RAM		0x80000000

	.section .data
	.balign	4096
	.globl	page_table
	.type	page_table, @object
page_table:
	.quad	0			/* page_table_low: head.S, as no relocation shifts */
	.quad	0
	.quad	(RAM >> PTE_ADDRESS_SHIFT) + MEMORY
	.fill	ENTRIES - 3, 8, 0
	.size	page_table, . - page_table

	.globl	page_table_low
	.type	page_table_low, @object
page_table_low:
	.fill	DEVICES / LEVEL2_SIZE, 8, 0
	.set	address, DEVICES
	.rept	(LEVEL1_SIZE - DEVICES) / LEVEL2_SIZE
	.quad	(address >> PTE_ADDRESS_SHIFT) + DEVICE
	.set	address, address + LEVEL2_SIZE
	.endr
	.size	page_table_low, . - page_table_low
