/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H

#include <linux/compiler.h>

static __always_inline void cpu_relax(void)
{
	barrier();
}

static __always_inline void arch_idle(void)
{
	__asm__ volatile("wait" : : : "memory");
}

#endif
