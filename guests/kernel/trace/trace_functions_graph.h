/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_FUNCTIONS_GRAPH_H
#define _TRACE_FUNCTIONS_GRAPH_H

/*
 * The fast path of the graph tracer, inlined into fgraph.c: other cases are tail calls of a slow
 * path, so that no register has to be saved.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace.h"

/* struct ftrace_ret_stack.flags; inherited by callees. */
#define GRAPH_INSIDE	1	/* in set_graph_function, or a callee */
#define GRAPH_NOTRACE	2	/* in set_graph_notrace: no events for it and its callees */
#define GRAPH_THRESH	4	/* tracing_thresh was set: record its return only if it took long */
#define GRAPH_PROFILED	8	/* entered under the function profiler: see trace_profile.c */

/* Written by a debugger while the kernel is stopped, hence volatile. */
#define graph_control	(*(const volatile struct ftrace_graph_control *)&ftrace_graph_control)

/* With interrupts disabled; @flags: saved state. Handles all cases. */
int graph_entry_slow(unsigned long func, u32 depth, unsigned long flags);
void graph_return_slow(u32 depth, unsigned long flags);

/* The time of the event is the time of the call. */
static __always_inline void graph_entry_event(struct ring_buffer_per_cpu *cpu,
					      const struct ring_buffer_event *event,
					      const struct thread_info *thread,
					      struct ftrace_ret_stack *stack, unsigned long func,
					      u32 depth, unsigned long flags)
{
	struct ftrace_graph_ent_entry *entry = event->data;

	stack->calltime = event->time;
	trace_entry_fill(&entry->entry, TRACE_GRAPH_ENT, thread, flags);
	entry->func = func;
	entry->depth = depth;
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

/* Likewise the time of the return. */
static __always_inline void graph_return_event(struct ring_buffer_per_cpu *cpu,
					       const struct ring_buffer_event *event,
					       const struct thread_info *thread,
					       const struct ftrace_ret_stack *stack, u32 depth,
					       unsigned long flags)
{
	struct ftrace_graph_ret_entry *entry = event->data;

	trace_entry_fill(&entry->entry, TRACE_GRAPH_RET, thread, flags);
	entry->func = stack->func;
	entry->depth = depth;
	entry->overrun = thread->trace_overrun;
	entry->calltime = stack->calltime;
	entry->rettime = event->time;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	entry->retval = stack->retval;
#endif
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

/* Not 0: no return is traced, whatever the filters say. */
static __always_inline u32 graph_entry_refuses(const struct thread_info *thread)
{
	return thread->ftrace_ignore | ring_buffer_is_off();
}

/* Whether this call needs graph_entry_slow(). graph_entry_refuses() has been checked. */
static __always_inline bool graph_entry_is_unusual(const struct ring_buffer_per_cpu *cpu)
{
	return (graph_control.max_depth | graph_control.nr_functions | graph_control.nr_notrace |
		ring_buffer_cpu_refuses(cpu)) | graph_control.tracing_thresh;
}

/* Whether this return needs graph_return_slow(). */
static __always_inline bool graph_return_is_unusual(const struct thread_info *thread,
						    const struct ftrace_ret_stack *stack,
						    const struct ring_buffer_per_cpu *cpu)
{
	return (thread->ftrace_ignore | ring_buffer_refuses(cpu)) | stack->flags;
}

#endif
