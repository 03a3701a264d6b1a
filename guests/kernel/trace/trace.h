/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_H
#define _TRACE_H

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "ring_buffer_write.h"

/*
 * Numbers of the events; their names and layouts are Linux's. harness/trace/formats.py has the
 * same numbers.
 */
#define TRACE_FN		1
#define TRACE_STACK		4
#define TRACE_PRINT		5
#define TRACE_GRAPH_RET		10
#define TRACE_GRAPH_ENT		11
#define TRACE_SCHED_SWITCH	32
#define TRACE_SYS_ENTER		33
#define TRACE_SYS_EXIT		34
#define TRACE_LATENCY		35
#define TRACE_SYSCALL(index)	(64 + 2 * (index))	/* of entering; plus 1: of leaving */

#define TRACE_FLAG_IRQS_OFF		0x01
#define TRACE_FLAG_NEED_RESCHED		0x04
#define TRACE_FLAG_HARDIRQ		0x08
#define TRACE_FLAG_PREEMPT_RESCHED	0x20
#define TRACE_FLAG_NMI			0x40

/* As in struct thread_info, so that an event can copy them. */
_Static_assert(_TIF_NEED_RESCHED == (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED),
	       "threads.h");
_Static_assert(HARDIRQ_MASK == (u32)TRACE_FLAG_HARDIRQ << EVENT_FLAGS_SHIFT &&
	       NMI_MASK == (u32)TRACE_FLAG_NMI << EVENT_FLAGS_SHIFT, "preempt.h");

/* Whether a sorted array of addresses, written by the debugger, contains this one. */
static inline bool ftrace_find(const volatile unsigned long *addresses, u32 count, u32 max_count,
			       unsigned long wanted)
{
	u32 low = 0, high = count < max_count ? count : max_count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (addresses[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && low < max_count && addresses[low] == wanted;
}

/* The word that type, flags and preempt_count are together. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TRACE_TYPE_SHIFT	16
#else
#define TRACE_TYPE_SHIFT	0
#endif

/**
 * struct trace_entry - the common fields of every event
 * @context:	u16 type, TRACE_*; u8 flags, TRACE_FLAG_*; u8 preemption count
 * @pid:	of the thread
 */
struct trace_entry {
	u32 context;
	s32 pid;
};

struct ftrace_entry {
	struct trace_entry entry;
	unsigned long ip;
	unsigned long parent_ip;
} __packed __aligned(RB_ALIGNMENT);

/* The CPU's buffer refuses an event of the function tracer. @flags: saved state of interrupts. */
void function_trace_refused(unsigned long flags);

struct ftrace_graph_ent_entry {
	struct trace_entry entry;
	unsigned long func;
	s32 depth;
} __packed __aligned(RB_ALIGNMENT);

struct ftrace_graph_ret_entry {
	struct trace_entry entry;
	unsigned long func;
	s32 depth;
	u32 overrun;
	u64 calltime;
	u64 rettime;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	unsigned long retval;
#endif
} __packed __aligned(RB_ALIGNMENT);

static __always_inline void trace_entry_fill(struct trace_entry *entry, u16 type,
					     const struct thread_info *thread,
					     unsigned long irq_flags)
{
	u32 flags = arch_irqs_disabled_flags(irq_flags) ? TRACE_FLAG_IRQS_OFF : 0;

	flags |= (u8)thread->flags;
	entry->context = thread->preempt_count | flags << EVENT_FLAGS_SHIFT |
			 (u32)type << TRACE_TYPE_SHIFT;
	entry->pid = thread->pid;
}

#endif
