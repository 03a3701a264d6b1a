/* SPDX-License-Identifier: MIT */
/* Device registers: ports, and uncached memory; accesses stay in order. */
#ifndef _ASM_IO_H
#define _ASM_IO_H

#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline u8 inb(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static __always_inline void outb(u8 value, u16 port)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static __always_inline u32 readl(unsigned long address)
{
	u32 value;

	__asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*(volatile u32 *)address) : "memory");
	return value;
}

static __always_inline void writel(u32 value, unsigned long address)
{
	__asm__ volatile("movl %0, %1" : : "r"(value), "m"(*(volatile u32 *)address) : "memory");
}

#endif
