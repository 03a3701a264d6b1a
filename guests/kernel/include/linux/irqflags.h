/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_IRQFLAGS_H
#define _LINUX_IRQFLAGS_H

/*
 * The arch gives, all as always-inline functions on an unsigned long of its own making:
 * arch_local_save_flags(), arch_local_irq_save(), arch_local_irq_restore(flags),
 * arch_irqs_disabled_flags(flags), arch_local_irq_enable(), arch_local_irq_disable().
 * Each is a compiler barrier.
 */
#include <asm/irqflags.h>

/* For the tracer and the ports, which must not trace themselves. */
#define raw_local_irq_enable()		arch_local_irq_enable()
#define raw_local_irq_disable()		arch_local_irq_disable()
#define raw_local_irq_save(flags)	((flags) = arch_local_irq_save())
#define raw_local_irq_restore(flags)	arch_local_irq_restore(flags)
#define raw_irqs_disabled()		arch_irqs_disabled_flags(arch_local_save_flags())

#define local_irq_enable()		raw_local_irq_enable()
#define local_irq_disable()		raw_local_irq_disable()
#define local_irq_save(flags)		raw_local_irq_save(flags)
#define local_irq_restore(flags)	raw_local_irq_restore(flags)
#define irqs_disabled()			raw_irqs_disabled()

#endif
