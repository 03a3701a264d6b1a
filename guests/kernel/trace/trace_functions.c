// SPDX-License-Identifier: MIT
/*
 * The function tracer: one event for every traced function that is entered.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "ring_buffer_write.h"
#include "trace.h"

void function_trace_call(unsigned long ip, unsigned long parent_ip)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu;
	struct ftrace_entry *event;
	unsigned long flags;

	/* Interrupts first: an interrupt between the two would find the guard up and lose events. */
	local_irq_save(flags);
	if (likely(!thread->trace_recursion && !ring_buffer.header.record_disabled)) {
		thread->trace_recursion = 1;
		cpu = &ring_buffer.cpu[thread->cpu];
		event = ring_buffer_reserve(cpu, sizeof(*event));
		if (likely(event)) {
			trace_entry_fill(&event->entry, TRACE_FN, thread, flags);
			event->ip = ip;
			event->parent_ip = parent_ip;
			ring_buffer_commit(cpu, sizeof(*event));
		}
		thread->trace_recursion = 0;
	}
	local_irq_restore(flags);
}
