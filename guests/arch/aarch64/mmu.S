/* SPDX-License-Identifier: MIT */
/*
 * The address map, built by the assembler: everything at its physical address.
 *
 *	0x00000000..0x07ffffff	a null pointer faults; user.c maps user programs here
 *	0x08000000..0x3fdfffff	devices
 *	0x3fe00000..0x3fffffff	not mapped: the boot stack above it overflows into a fault
 *	0x40000000..0x7fffffff	memory, executable at EL1
 *	0xc0000000..0xffffffff	the same memory, for modules
 *
 * With 39 bits of address the first level has 1 GiB, the second 2 MiB for an entry.
 */
#include <asm/module.h>
#include <asm/sysreg.h>

#define BLOCK_DEVICE		(DESC_BLOCK | DESC_ATTR(MT_DEVICE_NGNRNE) | DESC_ACCESSED | \
				 DESC_PXN | DESC_UXN)
#define BLOCK_NORMAL		(DESC_BLOCK | DESC_ATTR(MT_NORMAL) | DESC_INNER_SHAREABLE | \
				 DESC_ACCESSED | DESC_UXN)

#define ENTRIES			512
#define LEVEL1_SIZE		0x40000000
#define LEVEL2_SIZE		0x200000
#define DEVICES			0x08000000
#define RAM			0x40000000

	.section .data
	.balign	4096
	.global	page_table
	.type	page_table, %object
page_table:
	.quad	page_table_low + DESC_TABLE
	.quad	RAM + BLOCK_NORMAL
	.fill	MODULES_ALIAS / LEVEL1_SIZE - 2, 8, 0
	.quad	RAM + BLOCK_NORMAL
	.fill	ENTRIES - MODULES_ALIAS / LEVEL1_SIZE - 1, 8, 0
	.size	page_table, . - page_table

	.global	page_table_low
	.type	page_table_low, %object
page_table_low:
	.fill	DEVICES / LEVEL2_SIZE, 8, 0
	.set	address, DEVICES
	.rept	(RAM - DEVICES) / LEVEL2_SIZE - 1
	.quad	address + BLOCK_DEVICE
	.set	address, address + LEVEL2_SIZE
	.endr
	.quad	0
	.size	page_table_low, . - page_table_low
