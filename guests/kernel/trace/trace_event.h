/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_EVENT_H
#define _TRACE_EVENT_H

/*
 * Writing of infrequent events, by function calls.
 */
#include <linux/trace_events.h>

#include "trace.h"

/* Written by a debugger while the kernel is stopped, hence volatile. */
#define event_control	(*(const volatile struct trace_event_control *)&trace_event_control)

/* The padding between an int and a long in events, as a compiler would insert it. */
#if __SIZEOF_LONG__ == 8
#define TRACE_LONG_PADDING	u32 padding;
#else
#define TRACE_LONG_PADDING
#endif

struct print_entry {
	struct trace_entry entry;
	unsigned long ip;
	char buf[];
} __packed __aligned(RB_ALIGNMENT);

/**
 * struct trace_event_buffer - an event that is being written
 * @cpu:	its ring buffer
 * @event:	its position
 * @length:	bytes, with its struct trace_entry
 * @flags:	saved state of interrupts
 */
struct trace_event_buffer {
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	u32 length;
	unsigned long flags;
};

/**
 * trace_event_reserve - reserve an event
 * @buffer:	for trace_event_commit()
 * @type:	TRACE_*
 * @length:	bytes, with its struct trace_entry, which is filled in
 *
 * Return: the event, or NULL: then interrupts are restored, and there is nothing to commit.
 */
void *trace_event_reserve(struct trace_event_buffer *buffer, u16 type, u32 length);

/**
 * trace_event_commit - the event is complete
 * @buffer:	from trace_event_reserve()
 * @from:	the beginning of a stack trace, if enabled: a return address, or a call site
 */
void trace_event_commit(struct trace_event_buffer *buffer, unsigned long from);

/** trace_stack - write a kernel_stack event, with interrupts disabled; @flags: saved state */
void trace_stack(unsigned long from, unsigned long flags);

#endif
