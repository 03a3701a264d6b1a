/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_IRQFLAGS_H
#define _LINUX_IRQFLAGS_H

/*
 * The arch provides always-inline functions, with flags of its own in an unsigned long:
 * arch_local_save_flags(), arch_local_irq_save(), arch_local_irq_restore(flags),
 * arch_irqs_disabled_flags(flags), arch_local_irq_enable(), arch_local_irq_disable(). Each is a
 * compiler barrier.
 */
#include <asm/irqflags.h>

/* For the tracer and the ports, which must not be traced. */
#define raw_local_irq_enable()		arch_local_irq_enable()
#define raw_local_irq_disable()		arch_local_irq_disable()
#define raw_local_irq_save(flags)	((flags) = arch_local_irq_save())
#define raw_local_irq_restore(flags)	arch_local_irq_restore(flags)
#define raw_irqs_disabled()		arch_irqs_disabled_flags(arch_local_save_flags())

/**
 * trace_hardirqs_off - interrupts have been disabled
 * @parent_ip:	the caller of the function that did it, or the interrupted pc
 */
void trace_hardirqs_off(unsigned long parent_ip);

/** trace_hardirqs_on - interrupts will be enabled; @parent_ip: as above */
void trace_hardirqs_on(unsigned long parent_ip);

#define local_irq_parent() ((unsigned long)__builtin_return_address(0))

/* For all other code: with tracing of changes. */
static __always_inline void local_irq_enable(void)
{
	if (raw_irqs_disabled())
		trace_hardirqs_on(local_irq_parent());
	raw_local_irq_enable();
}

static __always_inline void local_irq_disable(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (!arch_irqs_disabled_flags(flags))
		trace_hardirqs_off(local_irq_parent());
}

#define local_irq_save(flags)						\
	do {								\
		raw_local_irq_save(flags);				\
		if (!arch_irqs_disabled_flags(flags))			\
			trace_hardirqs_off(local_irq_parent());		\
	} while (0)

static __always_inline void local_irq_restore(unsigned long flags)
{
	if (!arch_irqs_disabled_flags(flags) && raw_irqs_disabled())
		trace_hardirqs_on(local_irq_parent());
	raw_local_irq_restore(flags);
}

#define irqs_disabled()	raw_irqs_disabled()

#endif
