// SPDX-License-Identifier: MIT
/*
 * trace_marker: print events with a text of the debugger's.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "trace_event.h"

struct trace_marker_control trace_marker_control;

/*
 * As in Linux, set_event_pid has no effect on it, and the event names this function. A stack trace
 * would be the debugger's.
 */
int tracing_mark_write(void)
{
	const volatile struct trace_marker_control *control = &trace_marker_control;
	u32 size = control->size < TRACE_MARKER_SIZE ? control->size : TRACE_MARKER_SIZE;
	struct ring_buffer_event event;
	struct ring_buffer_per_cpu *cpu;
	struct print_entry *entry;
	unsigned long flags;
	int error = 0;

	raw_local_irq_save(flags);
	cpu = ring_buffer_this_cpu();
	if (ring_buffer_is_off() | cpu->record_disabled) {
		error = -EBADF;
	} else if (ring_buffer_cpu_refuses(cpu) ||
		   !ring_buffer_reserve_any(cpu, sizeof(*entry) + size, &event)) {
		error = -EBUSY;
	} else {
		entry = event.data;
		trace_entry_fill(&entry->entry, TRACE_PRINT, current, flags);
		entry->ip = (unsigned long)tracing_mark_write;
		memcpy(entry->buf, (const char *)trace_marker_control.text, size);
		ring_buffer_commit_any(cpu, sizeof(*entry) + size, &event);
	}
	raw_local_irq_restore(flags);
	return error;
}
