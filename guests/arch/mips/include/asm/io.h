/* SPDX-License-Identifier: MIT */
#ifndef _ASM_IO_H
#define _ASM_IO_H

#include <linux/compiler.h>
#include <linux/types.h>

/* kseg1: physical memory, unmapped and uncached. Sign-extended on a 64-bit CPU. */
#define KSEG1ADDR(physical)	((unsigned long)(long)(s32)((physical) | 0xa0000000))

static __always_inline u8 readb(unsigned long address)
{
	return *(volatile u8 *)address;
}

static __always_inline void writeb(u8 value, unsigned long address)
{
	*(volatile u8 *)address = value;
}

/* Registers of the machine's own controllers: in the CPU's byte order. */
static __always_inline u32 readl(unsigned long address)
{
	return *(volatile u32 *)address;
}

static __always_inline void writel(u32 value, unsigned long address)
{
	*(volatile u32 *)address = value;
}

#endif
