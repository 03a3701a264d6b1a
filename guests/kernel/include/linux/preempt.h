/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_PREEMPT_H
#define _LINUX_PREEMPT_H

/*
 * current->preempt_count: the nesting of sections that must not be preempted, and the kind of
 * interrupt. 0: an interrupt may call schedule(). The two bytes are laid out as in struct
 * trace_entry, so that an event copies the whole word.
 */
#include <linux/compiler.h>
#include <linux/sched.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PREEMPT_SHIFT		0
#define EVENT_FLAGS_SHIFT	8
#else
#define PREEMPT_SHIFT		24
#define EVENT_FLAGS_SHIFT	16
#endif

#define PREEMPT_OFFSET	(1u << PREEMPT_SHIFT)
#define PREEMPT_MASK	(0xffu << PREEMPT_SHIFT)
#define HARDIRQ_OFFSET	(0x08u << EVENT_FLAGS_SHIFT)	/* interrupts do not nest */
#define HARDIRQ_MASK	HARDIRQ_OFFSET
#define NMI_OFFSET	(0x40u << EVENT_FLAGS_SHIFT)
#define NMI_MASK	NMI_OFFSET

#define preempt_count()	(current->preempt_count)
#define in_irq()	(preempt_count() & HARDIRQ_MASK)
#define in_nmi()	(preempt_count() & NMI_MASK)

/* Written by its own thread only, and restored by interrupts. */
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
	preempt_count_add(PREEMPT_OFFSET);
}

/* For the scheduler itself. */
static __always_inline void preempt_enable_no_resched(void)
{
	preempt_count_sub(PREEMPT_OFFSET);
}

/* schedule(), if preemption and interrupts are enabled. */
void preempt_schedule(void);

/* The same at the end of an interrupt, with interrupts disabled. */
void preempt_schedule_irq(void);

static __always_inline void preempt_enable(void)
{
	preempt_count_sub(PREEMPT_OFFSET);
	barrier();
	if (unlikely(READ_ONCE(current->flags) & _TIF_NEED_RESCHED))
		preempt_schedule();
}

#endif
