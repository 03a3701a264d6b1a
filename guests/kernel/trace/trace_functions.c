// SPDX-License-Identifier: MIT
/*
 * The function tracer: one event for every entry of a traced function.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace.h"

static __always_inline void function_event(struct ring_buffer_per_cpu *cpu,
					   const struct ring_buffer_event *event,
					   const struct thread_info *thread,
					   unsigned long ip, unsigned long parent_ip,
					   unsigned long flags)
{
	struct ftrace_entry *entry = event->data;

	trace_entry_fill(&entry->entry, TRACE_FN, thread, flags);
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

/* Separate functions, so that function_trace_call() needs no stack. */
static noinline void function_trace_slow(unsigned long ip, unsigned long parent_ip,
					 unsigned long flags)
{
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct ring_buffer_event event;

	if (ring_buffer_reserve(cpu, sizeof(struct ftrace_entry), &event))
		function_event(cpu, &event, current, ip, parent_ip, flags);
	raw_local_irq_restore(flags);
}

noinline void function_trace_refused(unsigned long flags)
{
	ring_buffer_refused(ring_buffer_this_cpu());
	raw_local_irq_restore(flags);
}

void function_trace_call(FTRACE_PARAMETERS)
{
	const struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	unsigned long flags;

	if (unlikely(thread->ftrace_ignore | ring_buffer_is_off()))
		return;
	/* Disable interrupts first: with cpu->writing set an interrupt would lose events. */
	raw_local_irq_save(flags);
	cpu = ring_buffer_this_cpu();
	if (unlikely(ring_buffer_cpu_refuses(cpu))) {
		function_trace_refused(flags);
		return;
	}
	if (unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_entry), &event))) {
		function_trace_slow(ip, parent_ip, flags);
		return;
	}
	function_event(cpu, &event, thread, ip, parent_ip, flags);
	raw_local_irq_restore(flags);
}
