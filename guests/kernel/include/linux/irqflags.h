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

#define local_irq_enable()		arch_local_irq_enable()
#define local_irq_disable()		arch_local_irq_disable()
#define local_irq_save(flags)		((flags) = arch_local_irq_save())
#define local_irq_restore(flags)	arch_local_irq_restore(flags)
#define irqs_disabled()			arch_irqs_disabled_flags(arch_local_save_flags())

#endif
