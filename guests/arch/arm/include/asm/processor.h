/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H

#include <linux/compiler.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

/* Sleep until an interrupt is pending, masked or not. */
static __always_inline void arch_idle(void)
{
	__asm__ volatile("dsb\n\twfi" : : : "memory");
}

#endif
