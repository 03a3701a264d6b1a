/* SPDX-License-Identifier: MIT */
/* Device registers: one plain load or store each, and in order. */
#ifndef _ASM_IO_H
#define _ASM_IO_H

#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline u8 readb(unsigned long address)
{
	u8 value = *(volatile u8 *)address;

	__asm__ volatile("fence i, ir" : : : "memory");
	return value;
}

static __always_inline void writeb(u8 value, unsigned long address)
{
	__asm__ volatile("fence w, o" : : : "memory");
	*(volatile u8 *)address = value;
}

static __always_inline void writel(u32 value, unsigned long address)
{
	__asm__ volatile("fence w, o" : : : "memory");
	*(volatile u32 *)address = value;
}

#endif
