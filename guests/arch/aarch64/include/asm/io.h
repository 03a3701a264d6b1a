/* SPDX-License-Identifier: MIT */
#ifndef _ASM_IO_H
#define _ASM_IO_H

/*
 * Device registers. Every access is one plain load or store instruction: device memory (nGnRnE)
 * keeps the order, and a hypervisor can emulate it.
 */
#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline u32 readl(unsigned long address)
{
	u32 value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static __always_inline void writel(u32 value, unsigned long address)
{
	__asm__ volatile("str %w0, [%1]" : : "rZ"(value), "r"(address) : "memory");
}

#endif
