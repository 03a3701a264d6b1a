// SPDX-License-Identifier: MIT
/*
 * The graph tracer: an event when a function is entered and one when it returns.
 *
 * Like the function tracer, each half does the usual case without a call and hands everything else
 * to a function of its own, so that the usual case saves no registers.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace.h"

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* struct ftrace_ret_stack.flags; whatever a function calls inherits them. */
#define GRAPH_INSIDE	1	/* a function of control.functions, or called by one */
#define GRAPH_NOTRACE	2	/* a function of control.notrace_functions: there to silence what it calls */

static unsigned long graph_functions[FTRACE_GRAPH_MAX_FUNCS];
static unsigned long graph_notrace[FTRACE_GRAPH_MAX_FUNCS];

struct ftrace_graph_control ftrace_graph_control;

/* A debugger writes them while nothing runs; the compiler must not think that nobody does. */
#define control (*(const volatile struct ftrace_graph_control *)&ftrace_graph_control)

/* Only the addresses: the debugger may have written the rest already. */
void ftrace_graph_init(void)
{
	ftrace_graph_control.functions = (unsigned long)graph_functions;
	ftrace_graph_control.notrace_functions = (unsigned long)graph_notrace;
}

static bool graph_find(const volatile unsigned long *functions, u32 count, unsigned long func)
{
	u32 low = 0, high = count < FTRACE_GRAPH_MAX_FUNCS ? count : FTRACE_GRAPH_MAX_FUNCS;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (functions[middle] < func)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && low < FTRACE_GRAPH_MAX_FUNCS && functions[low] == func;
}

/* What the filters say: whether to hijack the function, and in its flags whether it is an event. */
static bool graph_wanted(const struct thread_info *thread, const struct ftrace_graph_ent *trace)
{
	struct ftrace_ret_stack *entry = &thread->ret_stack[trace->depth];
	unsigned long flags = trace->depth ? entry[-1].flags : 0;

	if (flags & GRAPH_NOTRACE)
		return false;
	if (graph_find(graph_notrace, control.nr_notrace, trace->func)) {
		entry->flags = flags | GRAPH_NOTRACE;
		return true;
	}
	if (control.nr_functions && !(flags & GRAPH_INSIDE)) {
		if (!graph_find(graph_functions, control.nr_functions, trace->func))
			return false;
		flags |= GRAPH_INSIDE;
	}
	if (control.max_depth && (u32)trace->depth >= control.max_depth)
		return false;
	entry->flags = flags;
	return true;
}

static __always_inline void graph_entry_event(struct ring_buffer_per_cpu *cpu,
					      const struct ring_buffer_event *event,
					      const struct ftrace_graph_ent *trace,
					      unsigned long flags)
{
	struct ftrace_graph_ent_entry *entry = ring_buffer_event_data(event);

	trace_entry_fill(&entry->entry, TRACE_GRAPH_ENT, current, flags);
	entry->func = trace->func;
	entry->depth = trace->depth;
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

static noinline int graph_entry_slow(const struct ftrace_graph_ent *trace, unsigned long flags)
{
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct thread_info *thread = current;
	struct ftrace_ret_stack *entry = &thread->ret_stack[trace->depth];
	struct ring_buffer_event event;
	int hijack = 0;

	if (!graph_wanted(thread, trace))
		goto out;
	if (entry->flags & GRAPH_NOTRACE || control.tracing_thresh) {
		entry->calltime = sched_clock();
		hijack = 1;
	} else if (ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ent_entry), &event)) {
		entry->calltime = cpu->last_stamp;
		graph_entry_event(cpu, &event, trace, flags);
		hijack = 1;
	}
out:
	thread->trace_recursion = 0;
	local_irq_restore(flags);
	return hijack;
}

int trace_graph_entry(struct ftrace_graph_ent *trace)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	unsigned long flags;

	local_irq_save(flags);
	if (unlikely(thread->trace_recursion | ring_buffer.header.record_disabled)) {
		local_irq_restore(flags);
		return 0;
	}
	thread->trace_recursion = 1;
	cpu = ring_buffer_this_cpu();
	if (unlikely(control.max_depth | control.nr_functions | control.nr_notrace |
		     control.tracing_thresh) ||
	    unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_graph_ent_entry), &event)))
		return graph_entry_slow(trace, flags);
	thread->ret_stack[trace->depth].calltime = cpu->last_stamp;
	graph_entry_event(cpu, &event, trace, flags);
	thread->trace_recursion = 0;
	local_irq_restore(flags);
	return 1;
}

static __always_inline void graph_return_event(struct ring_buffer_per_cpu *cpu,
					       const struct ring_buffer_event *event,
					       struct ftrace_graph_ret *trace,
					       unsigned long flags)
{
	struct ftrace_graph_ret_entry *entry = ring_buffer_event_data(event);

	trace->rettime = cpu->last_stamp;
	trace_entry_fill(&entry->entry, TRACE_GRAPH_RET, current, flags);
	entry->func = trace->func;
	entry->depth = trace->depth;
	entry->overrun = trace->overrun;
	entry->calltime = trace->calltime;
	entry->rettime = trace->rettime;
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

static noinline void graph_return_slow(struct ftrace_graph_ret *trace, unsigned long flags)
{
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct ring_buffer_event event;

	if (!(current->ret_stack[trace->depth].flags & GRAPH_NOTRACE) &&
	    (!control.tracing_thresh || sched_clock() - trace->calltime >= control.tracing_thresh) &&
	    ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ret_entry), &event))
		graph_return_event(cpu, &event, trace, flags);
	current->trace_recursion = 0;
	local_irq_restore(flags);
}

void trace_graph_return(struct ftrace_graph_ret *trace)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	unsigned long flags;

	local_irq_save(flags);
	if (unlikely(thread->trace_recursion | ring_buffer.header.record_disabled)) {
		local_irq_restore(flags);
		return;
	}
	thread->trace_recursion = 1;
	cpu = ring_buffer_this_cpu();
	if (unlikely(thread->ret_stack[trace->depth].flags | control.tracing_thresh) ||
	    unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_graph_ret_entry), &event))) {
		graph_return_slow(trace, flags);
		return;
	}
	graph_return_event(cpu, &event, trace, flags);
	thread->trace_recursion = 0;
	local_irq_restore(flags);
}

#endif
