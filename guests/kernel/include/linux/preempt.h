/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_PREEMPT_H
#define _LINUX_PREEMPT_H

/*
 * current->preempt_count: how deep the thread is in sections that must not be preempted, and in
 * its bits above, what kind of interrupt it is in. 0: an interrupt may call schedule().
 */
#include <linux/compiler.h>
#include <linux/sched.h>

#define PREEMPT_MASK	0x000000ffu
#define HARDIRQ_OFFSET	0x00010000u
#define HARDIRQ_MASK	0x000f0000u
#define NMI_OFFSET	0x00100000u
#define NMI_MASK	0x00f00000u

#define preempt_count()	(current->preempt_count)
#define in_irq()	(preempt_count() & HARDIRQ_MASK)
#define in_nmi()	(preempt_count() & NMI_MASK)

/* Only its own thread writes a thread's count, and an interrupt leaves it as it was. */
static __always_inline void preempt_count_add(u32 value)
{
	WRITE_ONCE(current->preempt_count, READ_ONCE(current->preempt_count) + value);
	barrier();
}

static __always_inline void preempt_count_sub(u32 value)
{
	barrier();
	WRITE_ONCE(current->preempt_count, READ_ONCE(current->preempt_count) - value);
}

static __always_inline void preempt_disable(void)
{
	preempt_count_add(1);
}

/* For the scheduler, which does not want to be called. */
static __always_inline void preempt_enable_no_resched(void)
{
	preempt_count_sub(1);
}

/* schedule(), unless the count or masked interrupts forbid it. */
void preempt_schedule(void);

static __always_inline void preempt_enable(void)
{
	preempt_count_sub(1);
	barrier();
	if (unlikely(READ_ONCE(current->flags) & _TIF_NEED_RESCHED))
		preempt_schedule();
}

#endif
