// SPDX-License-Identifier: MIT
/*
 * The graph tracer: an event for every entry and return. The fast path is in
 * trace_functions_graph.h; this file has the filters and other slow paths.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>


#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#include <linux/ftrace_triggers.h>
#include <linux/preempt.h>

#include "trace_event.h"
#include "trace_functions_graph.h"

struct ftrace_graph_control ftrace_graph_control;

void __weak ftrace_graph_arch_init(void)
{
}

int __weak ftrace_graph_module_init(struct module *module)
{
	return 0;
}

void ftrace_graph_init(void)
{
	ftrace_graph_arch_init();
}

static bool graph_find(const volatile unsigned long *functions, u32 count, unsigned long func)
{
	return ftrace_find(functions, count, FTRACE_GRAPH_MAX_FUNCS, func);
}

/* Apply the filters: whether to trace the return, and in the flags whether to record events. */
static bool graph_wanted(struct ftrace_ret_stack *entry, unsigned long func, u32 depth)
{
	unsigned long flags = depth ? entry[-1].flags & ~GRAPH_PROFILED : 0;

	if (flags & GRAPH_NOTRACE || ftrace_is_hidden(func))
		return false;
	if (in_irq() && event_control.options & TRACE_OPTION_GRAPH_NO_IRQS)
		return false;
	if (graph_find(graph_control.notrace_functions, graph_control.nr_notrace, func)) {
		entry->flags = flags | GRAPH_NOTRACE;
		return true;
	}
	if (graph_control.nr_functions && !(flags & GRAPH_INSIDE)) {
		if (!graph_find(graph_control.functions, graph_control.nr_functions, func))
			return false;
		flags |= GRAPH_INSIDE;
	}
	if (graph_control.max_depth && depth >= graph_control.max_depth)
		return false;
	entry->flags = flags;
	return true;
}

int graph_entry_slow(unsigned long func, u32 depth, unsigned long flags)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct ftrace_ret_stack *entry = &thread->ret_stack[depth];
	struct ring_buffer_event event;

	if (graph_entry_refuses(thread) || !graph_wanted(entry, func, depth))
		return 0;
	if (ring_buffer_cpu_refuses(cpu)) {
		ring_buffer_refused(cpu);
		return 0;
	}
	if (graph_control.tracing_thresh)
		entry->flags |= GRAPH_THRESH;
	if (entry->flags & (GRAPH_NOTRACE | GRAPH_THRESH)) {
		entry->calltime = sched_clock();
		return 1;
	}
	if (!ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ent_entry), &event))
		return 0;
	graph_entry_event(cpu, &event, thread, entry, func, depth, flags);
	return 1;
}

void graph_return_slow(u32 depth, unsigned long flags)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	const struct ftrace_ret_stack *entry = &thread->ret_stack[depth];
	struct ring_buffer_event event;

	if (thread->ftrace_ignore || entry->flags & (GRAPH_NOTRACE | GRAPH_PROFILED))
		return;
	if (entry->flags & GRAPH_THRESH &&
	    sched_clock() - entry->calltime < graph_control.tracing_thresh)
		return;
	if (ring_buffer_refuses(cpu))
		ring_buffer_refused(cpu);
	else if (ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ret_entry), &event))
		graph_return_event(cpu, &event, thread, entry, depth, flags);
}

int trace_graph_entry(struct ftrace_graph_ent *trace)
{
	unsigned long flags;
	int hijack;

	raw_local_irq_save(flags);
	hijack = graph_entry_slow(trace->func, trace->depth, flags);
	raw_local_irq_restore(flags);
	return hijack;
}

void trace_graph_return(struct ftrace_graph_ret *trace)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	graph_return_slow(trace->depth, flags);
	raw_local_irq_restore(flags);
}

#endif
