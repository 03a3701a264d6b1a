/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

/*
 * Spin locks, made of the compiler's atomic operations. A lock used by interrupt handlers is always
 * taken with interrupts masked. All functions are inline, so that they are not traced.
 */
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include <asm/processor.h>

typedef struct {
	u32 locked;
} spinlock_t;

/* These two do not disable preemption: interrupts are masked, or the kernel is booting. */
static __always_inline void raw_spin_lock(spinlock_t *lock)
{
	while (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(lock->locked))
			cpu_relax();
}

static __always_inline void raw_spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

static __always_inline void spin_lock(spinlock_t *lock)
{
	preempt_disable();
	raw_spin_lock(lock);
}

static __always_inline void spin_unlock(spinlock_t *lock)
{
	raw_spin_unlock(lock);
	preempt_enable();
}

#define spin_lock_irqsave(lock, flags)			\
	do {						\
		local_irq_save(flags);			\
		spin_lock(lock);			\
	} while (0)

#define spin_unlock_irqrestore(lock, flags)		\
	do {						\
		raw_spin_unlock(lock);			\
		preempt_enable_no_resched();		\
		local_irq_restore(flags);		\
	} while (0)

#endif
