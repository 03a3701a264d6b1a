/* SPDX-License-Identifier: MIT */
/* Interrupt masking: sstatus.SIE. Flags are a copy of that bit. */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H

#include <asm/csr.h>
#include <linux/compiler.h>

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ volatile("csrr %0, sstatus" : "=r"(flags) : : "memory");
	return flags & SSTATUS_SIE;
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ volatile("csrci sstatus, %0" : : "i"(SSTATUS_SIE) : "memory");
}

static __always_inline void arch_local_irq_enable(void)
{
	__asm__ volatile("csrsi sstatus, %0" : : "i"(SSTATUS_SIE) : "memory");
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, sstatus, %1" : "=r"(flags) : "i"(SSTATUS_SIE) : "memory");
	return flags & SSTATUS_SIE;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	__asm__ volatile("csrs sstatus, %0" : : "r"(flags) : "memory");
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & SSTATUS_SIE);
}

#endif
