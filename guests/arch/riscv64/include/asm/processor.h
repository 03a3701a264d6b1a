/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H

#include <linux/compiler.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile(".word 0x0100000f" : : : "memory");	/* pause, a hint */
}

/* linux/smp.h */
#define arch_sync_core()	__asm__ volatile("fence.i" : : : "memory")

/* Sleep until an interrupt is pending, masked or not. */
static __always_inline void arch_idle(void)
{
	__asm__ volatile("wfi" : : : "memory");
}

#endif
