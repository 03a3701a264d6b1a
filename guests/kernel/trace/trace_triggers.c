// SPDX-License-Identifier: MIT
/*
 * Function triggers: traceon, traceoff and stacktrace at a function's entry.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_triggers.h>
#include <linux/stack_tracer.h>

#include "trace_event.h"

#define control	(*(const volatile struct ftrace_trigger_control *)&ftrace_trigger_control)

struct ftrace_trigger_control ftrace_trigger_control;

bool ftrace_is_hidden(unsigned long ip)
{
	return ftrace_find(control.hidden, control.nr_hidden, FTRACE_MAX_HIDDEN, ip);
}

/* Decrement the count; false if it is used up. */
static bool take_count(struct ftrace_trigger *trigger)
{
	u32 count = READ_ONCE(trigger->count);

	do {
		if (!count || count == TRIGGER_UNLIMITED)
			return count;
	} while (!__atomic_compare_exchange_n(&trigger->count, &count, count - 1, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* Not counted if it has no effect. */
static void switch_tracing(struct ftrace_trigger *trigger, u32 disabled)
{
	if (READ_ONCE(ring_buffer.header.record_disabled) != disabled && take_count(trigger))
		WRITE_ONCE(ring_buffer.header.record_disabled, disabled);
}

static void stack_event(unsigned long ip)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	trace_stack(ip, flags);
	raw_local_irq_restore(flags);
}

/* The first trigger with this address or a higher one. */
static struct ftrace_trigger *find_first(unsigned long ip, struct ftrace_trigger *end)
{
	struct ftrace_trigger *low = ftrace_trigger_control.triggers, *high = end;

	while (low < high) {
		struct ftrace_trigger *middle = low + (high - low) / 2;

		if (middle->ip < ip)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* traceon before the function's own event, traceoff after it. */
void function_trigger_call(FTRACE_PARAMETERS)
{
	u32 count = control.nr_triggers;
	struct ftrace_trigger *end, *first, *trigger;

	end = ftrace_trigger_control.triggers +
	      (count < FTRACE_MAX_TRIGGERS ? count : FTRACE_MAX_TRIGGERS);
	if (READ_ONCE(stack_trace_control.enabled))
		stack_trace_call(ip);
	first = find_first(ip, end);
	for (trigger = first; trigger < end && trigger->ip == ip; trigger++)
		if (trigger->action == TRIGGER_TRACEON)
			switch_tracing(trigger, 0);
	if (control.tracer && !ftrace_is_hidden(ip))
		((ftrace_func_t)control.tracer)(FTRACE_ARGUMENTS);
	for (trigger = first; trigger < end && trigger->ip == ip; trigger++) {
		if (trigger->action == TRIGGER_TRACEOFF)
			switch_tracing(trigger, 1);
		if (trigger->action == TRIGGER_STACKTRACE && take_count(trigger))
			stack_event(ip);
	}
}

/* The function tracer with the option func_stack_trace. */
void function_stack_trace_call(FTRACE_PARAMETERS)
{
	struct trace_event_buffer buffer;
	struct ftrace_entry *entry;
	unsigned long flags;

	raw_local_irq_save(flags);
	if (!current->ftrace_ignore) {
		entry = trace_event_reserve(&buffer, TRACE_FN, sizeof(*entry));
		if (entry) {
			trace_entry_fill(&entry->entry, TRACE_FN, current, flags);
			entry->ip = ip;
			entry->parent_ip = parent_ip;
			ring_buffer_commit_any(buffer.cpu, buffer.length, &buffer.event);
			trace_stack(ip, flags);
		}
	}
	raw_local_irq_restore(flags);
}
