/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H

#include <linux/compiler.h>

static __always_inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Sleep until the next interrupt that is not masked; with all of them masked, for good. */
static __always_inline void arch_idle(void)
{
	__asm__ volatile("hlt" : : : "memory");
}

#endif
