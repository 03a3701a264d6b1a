/* SPDX-License-Identifier: MIT */
/* Interrupt masking: rflags.IF. Flags are a copy of that register. */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H

#include <linux/compiler.h>

#define FLAGS_IF	(1ul << 9)

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags) : : "memory");
	return flags;
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (flags & FLAGS_IF)
		arch_local_irq_enable();
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & FLAGS_IF);
}

#endif
