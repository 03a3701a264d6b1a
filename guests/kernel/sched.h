/* SPDX-License-Identifier: MIT */
#ifndef _SCHED_H
#define _SCHED_H

/*
 * Between sched.c, which switches threads, and thread.c, which makes them wait. One lock guards
 * the run queue, every other list of threads and what they wait for.
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

/* With the lock held, which is given up while the thread does not run. */

/** sched_wait - put the current thread into a list until sched_wake() finds it there */
void sched_wait(struct thread_list *list);

/** sched_wake - the first thread of a list, if any, may go on */
void sched_wake(struct thread_list *list);

/** sched_start - a new thread may run */
void sched_start(struct thread_info *thread);

/** sched_leave - the current thread has ended: whoever joins it finds EXIT_ZOMBIE */
void sched_leave(void) __noreturn;

/** sched_requested - another CPU says that there is a thread for this one */
void sched_requested(void);

/** sched_tick - begin or stop this CPU's ticks, as the threads that wait demand */
void sched_tick(void);

#endif
