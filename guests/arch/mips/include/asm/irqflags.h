/* SPDX-License-Identifier: MIT */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H

#include <linux/compiler.h>

#include <asm/mipsregs.h>

/* The flags are the Status register; only its interrupt enable bit counts. */

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("mfc0 %0, $12" : "=r"(flags) : : "memory");
	return flags;
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags;

	/* ehb: interrupts are masked from the next instruction on. */
	__asm__ volatile("di %0; ehb" : "=r"(flags) : : "memory");
	return flags;
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("di; ehb" : : : "memory");
}

static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("ei; ehb" : : : "memory");
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	/* No ehb: interrupts may be taken a few instructions later. */
	if (flags & ST0_IE)
		__asm__ volatile("ei" : : : "memory");
	else
		barrier();
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & ST0_IE);
}

#endif
