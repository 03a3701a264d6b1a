/* SPDX-License-Identifier: MIT */
#ifndef _ASM_IO_H
#define _ASM_IO_H

/* Device registers: one plain load or store each; device memory keeps their order. */
#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline u32 readl(unsigned long address)
{
	u32 value;

	__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static __always_inline void writel(u32 value, unsigned long address)
{
	__asm__ volatile("str %0, [%1]" : : "r"(value), "r"(address) : "memory");
}

#endif
