/* SPDX-License-Identifier: MIT */
#ifndef _SCHED_H
#define _SCHED_H

/*
 * The interface between sched.c and thread.c. One lock protects the run queue, all wait queues and
 * the conditions that threads wait for.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

extern spinlock_t sched_spinlock;

static __always_inline unsigned long sched_lock(void)
{
	unsigned long flags;

	local_irq_save(flags);
	raw_spin_lock(&sched_spinlock);
	return flags;
}

static __always_inline void sched_unlock(unsigned long flags)
{
	raw_spin_unlock(&sched_spinlock);
	local_irq_restore(flags);
}

/* With the lock held; it is released while the thread does not run. */

/** sched_wait - block the current thread in a list until sched_wake() */
void sched_wait(struct thread_list *list);

/** sched_wake - wake the first thread of a list, if any */
void sched_wake(struct thread_list *list);

/** sched_start - make a new thread runnable */
void sched_start(struct thread_info *thread);

/** sched_leave - end the current thread: its state becomes EXIT_ZOMBIE */
void sched_leave(void) __noreturn;

/** sched_requested - another CPU has queued a thread for this one */
void sched_requested(void);

/** sched_tick - start or stop this CPU's ticks: they run while threads wait */
void sched_tick(void);

#endif
