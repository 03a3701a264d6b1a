// SPDX-License-Identifier: MIT
/*
 * Events: writing to the ring buffer, and the events sched_switch and print.
 */
#include <stdarg.h>
#include <stdio.h>

#include <linux/kernel.h>
#include <linux/string.h>

#include "trace_event.h"
#include "trace_filter.h"

struct trace_event_control trace_event_control;

void *trace_event_reserve(struct trace_event_buffer *buffer, u16 type, u32 length)
{
	struct ring_buffer_per_cpu *cpu;

	raw_local_irq_save(buffer->flags);
	cpu = ring_buffer_this_cpu();
	if (unlikely(current->event_ignore)) {
		if (current->event_ignore & EVENT_IGNORED)
			goto out;
		buffer->event.data = trace_filter_event(type, length);
		if (buffer->event.data)
			goto fill;
	}
	if (ring_buffer_refuses(cpu)) {
		ring_buffer_refused(cpu);
		goto out;
	}
	if (!ring_buffer_reserve_any(cpu, length, &buffer->event))
		goto out;
fill:
	buffer->cpu = cpu;
	buffer->length = length;
	trace_entry_fill(buffer->event.data, type, current, buffer->flags);
	return buffer->event.data;
out:
	raw_local_irq_restore(buffer->flags);
	return NULL;
}

/* Move an event that was made beside the ring buffer into it; false if it is not to be recorded. */
static bool record_filtered(struct trace_event_buffer *buffer)
{
	const void *made = buffer->event.data;

	if (!trace_filter_matches(made, buffer->length))
		return false;
	if (ring_buffer_refuses(buffer->cpu)) {
		ring_buffer_refused(buffer->cpu);
		return false;
	}
	if (!ring_buffer_reserve_any(buffer->cpu, buffer->length, &buffer->event))
		return false;
	memcpy(buffer->event.data, made, buffer->length);
	return true;
}

/* A function of its own, so that trace_event_commit() saves few registers. */
static noinline void commit_unusual(struct trace_event_buffer *buffer, unsigned long from)
{
	if (!trace_filter_has(buffer->event.data) || record_filtered(buffer)) {
		ring_buffer_commit_any(buffer->cpu, buffer->length, &buffer->event);
		if (event_control.options & TRACE_OPTION_STACKTRACE)
			trace_stack(from, buffer->flags);
	}
	raw_local_irq_restore(buffer->flags);
}

noinline void trace_event_commit(struct trace_event_buffer *buffer, unsigned long from)
{
	if (unlikely(event_control.options & (TRACE_OPTION_STACKTRACE | TRACE_OPTION_FILTERS))) {
		commit_unusual(buffer, from);
		return;
	}
	ring_buffer_commit_any(buffer->cpu, buffer->length, &buffer->event);
	raw_local_irq_restore(buffer->flags);
}

#define PRIORITY	120	/* that of every thread: nice 0 */
#define STATE_PREEMPTED	0x100	/* R+ */

struct sched_switch_entry {
	struct trace_entry entry;
	char prev_comm[16];
	s32 prev_pid;
	s32 prev_prio;
	long prev_state;
	char next_comm[16];
	s32 next_pid;
	s32 next_prio;
} __packed __aligned(RB_ALIGNMENT);

void trace_sched_switch(bool preempt, struct thread_info *prev, struct thread_info *next)
{
	struct trace_event_buffer buffer;
	struct sched_switch_entry *entry;

	if (likely(!(event_control.enabled & TRACE_EVENT_SCHED_SWITCH)))
		return;
	entry = trace_event_reserve(&buffer, TRACE_SCHED_SWITCH, sizeof(*entry));
	if (!entry)
		return;
	memcpy(entry->prev_comm, prev->comm, sizeof(entry->prev_comm));
	entry->prev_pid = prev->pid;
	entry->prev_prio = PRIORITY;
	entry->prev_state = preempt && prev->state == TASK_RUNNING ? STATE_PREEMPTED : prev->state;
	memcpy(entry->next_comm, next->comm, sizeof(entry->next_comm));
	entry->next_pid = next->pid;
	entry->next_prio = PRIORITY;
	trace_event_commit(&buffer, (unsigned long)__builtin_return_address(0));
}

#define PRINT_SIZE	256

int trace_printk(const char *format, ...)
{
	unsigned long ip = (unsigned long)__builtin_return_address(0);
	struct trace_event_buffer buffer;
	struct print_entry *entry;
	char text[PRINT_SIZE];
	va_list arguments;
	int length;
	int size;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	size = length < PRINT_SIZE ? length + 1 : PRINT_SIZE;
	entry = trace_event_reserve(&buffer, TRACE_PRINT, sizeof(*entry) + size);
	if (entry) {
		entry->ip = ip;
		memcpy(entry->buf, text, size);
		trace_event_commit(&buffer, ip);
	}
	return length;
}
