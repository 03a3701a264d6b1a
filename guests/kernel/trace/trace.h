/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_H
#define _TRACE_H

#include <linux/irqflags.h>
#include <linux/sched.h>

#include "ring_buffer_write.h"

/* Numbers of the events; their names and layouts are Linux's. */
#define TRACE_FN		1
#define TRACE_GRAPH_RET		10
#define TRACE_GRAPH_ENT		11

#define TRACE_FLAG_IRQS_OFF	1

/**
 * struct trace_entry - what every event begins with
 * @type:		TRACE_*
 * @flags:		TRACE_FLAG_*
 * @preempt_count:	of the thread
 * @pid:		of the thread
 */
struct trace_entry {
	u16 type;
	u8 flags;
	u8 preempt_count;
	s32 pid;
};

struct ftrace_entry {
	struct trace_entry entry;
	unsigned long ip;
	unsigned long parent_ip;
} __packed __aligned(RB_ALIGNMENT);

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
} __packed __aligned(RB_ALIGNMENT);

static __always_inline void trace_entry_fill(struct trace_entry *entry, u16 type,
					     const struct thread_info *thread,
					     unsigned long irq_flags)
{
	entry->type = type;
	entry->flags = arch_irqs_disabled_flags(irq_flags) ? TRACE_FLAG_IRQS_OFF : 0;
	entry->preempt_count = thread->preempt_count;
	entry->pid = thread->pid;
}

#endif
