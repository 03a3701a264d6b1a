/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_FUNCTIONS_GRAPH_H
#define _TRACE_FUNCTIONS_GRAPH_H

/*
 * The usual case of the graph tracer, for fgraph.c to have it without a call: whatever is not
 * usual is handed to a function that does all the rest, and no register has to be saved.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "trace.h"

/* struct ftrace_ret_stack.flags; whatever a function calls inherits them. */
#define GRAPH_INSIDE	1	/* one of the functions asked for, or called by one */
#define GRAPH_NOTRACE	2	/* hijacked to silence what it calls; itself no event */
#define GRAPH_THRESH	4	/* tracing_thresh was set: its return is an event only if it took long */

/* A debugger writes it while nothing runs; the compiler must not think that nobody does. */
#define graph_control	(*(const volatile struct ftrace_graph_control *)&ftrace_graph_control)

/* With interrupts masked, as they were with flags. Any case, usual or not. */
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
	ring_buffer_commit(cpu, sizeof(*entry), event);
}

/* Not 0: no function is hijacked, whatever the filters say. */
static __always_inline u32 graph_entry_refuses(const struct thread_info *thread)
{
	return thread->ftrace_ignore | ring_buffer_is_off();
}

/* Whether this call takes graph_entry_slow(). graph_entry_refuses() has been asked. */
static __always_inline bool graph_entry_is_unusual(const struct ring_buffer_per_cpu *cpu)
{
	return (graph_control.max_depth | graph_control.nr_functions | graph_control.nr_notrace |
		ring_buffer_is_writing(cpu)) | graph_control.tracing_thresh;
}

/* Whether this return takes graph_return_slow(). */
static __always_inline bool graph_return_is_unusual(const struct thread_info *thread,
						    const struct ftrace_ret_stack *stack,
						    const struct ring_buffer_per_cpu *cpu)
{
	return (thread->ftrace_ignore | ring_buffer_refuses(cpu)) | stack->flags;
}

#endif
