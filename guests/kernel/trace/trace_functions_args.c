// SPDX-License-Identifier: MIT
/*
 * The function tracer with the option func-args: the arguments behind each event's addresses, as
 * many as registers may hold; how many the function has is not known here.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#ifdef FTRACE_WITH_OPS

#include "trace.h"

struct ftrace_args_entry {
	struct ftrace_entry function;
	unsigned long args[FTRACE_REGS_MAX_ARGS];
} __packed __aligned(RB_ALIGNMENT);

static __always_inline void args_event(struct ring_buffer_per_cpu *cpu,
				       const struct ring_buffer_event *event, unsigned long ip,
				       unsigned long parent_ip, struct ftrace_regs *fregs,
				       unsigned long flags)
{
	struct ftrace_args_entry *entry = event->data;

	/* One by one: at -O2 gcc leaves a loop as it is, which takes twice as long. */
	_Static_assert(FTRACE_REGS_MAX_ARGS == 6, "ftrace_ops.h");
	trace_entry_fill(&entry->function.entry, TRACE_FN, current, flags);
	entry->function.ip = ip;
	entry->function.parent_ip = parent_ip;
	entry->args[0] = ftrace_regs_get_argument(fregs, 0);
	entry->args[1] = ftrace_regs_get_argument(fregs, 1);
	entry->args[2] = ftrace_regs_get_argument(fregs, 2);
	entry->args[3] = ftrace_regs_get_argument(fregs, 3);
	entry->args[4] = ftrace_regs_get_argument(fregs, 4);
	entry->args[5] = ftrace_regs_get_argument(fregs, 5);
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

static noinline void args_slow(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_regs *fregs, unsigned long flags)
{
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct ring_buffer_event event;

	if (ring_buffer_reserve(cpu, sizeof(struct ftrace_args_entry), &event))
		args_event(cpu, &event, ip, parent_ip, fregs, flags);
	raw_local_irq_restore(flags);
}

void function_args_trace_call(FTRACE_PARAMETERS)
{
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	unsigned long flags;

	if (unlikely(current->ftrace_ignore | ring_buffer_is_off()))
		return;
	raw_local_irq_save(flags);
	cpu = ring_buffer_this_cpu();
	if (unlikely(ring_buffer_cpu_refuses(cpu))) {
		function_trace_refused(flags);
		return;
	}
	if (unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_args_entry), &event))) {
		args_slow(ip, parent_ip, fregs, flags);
		return;
	}
	args_event(cpu, &event, ip, parent_ip, fregs, flags);
	raw_local_irq_restore(flags);
}

#endif
