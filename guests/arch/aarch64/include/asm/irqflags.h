/* SPDX-License-Identifier: MIT */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H

/* Interrupt masking: PSTATE.I. Flags are a copy of DAIF. */
#include <asm/sysreg.h>
#include <linux/compiler.h>

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif" : "=r"(flags));
	return flags;
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("msr daifset, #2" : : : "memory");
}

static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" : : : "memory");
}

static __always_inline void arch_local_fiq_enable(void)
{
	__asm__ volatile("msr daifclr, #1" : : : "memory");
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr daif, %0" : : "r"(flags) : "memory");
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return (flags & PSR_I_BIT) != 0;
}

#endif
