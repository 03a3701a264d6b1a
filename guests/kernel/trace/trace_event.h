/* SPDX-License-Identifier: MIT */
#ifndef _TRACE_EVENT_H
#define _TRACE_EVENT_H

/*
 * How events are written that are rare enough for a function call.
 */
#include <linux/trace_events.h>

#include "trace.h"

/* A debugger writes it while nothing runs; the compiler must not think that nobody does. */
#define event_control	(*(const volatile struct trace_event_control *)&trace_event_control)

/* Between an int and a long, where events have what a compiler would put there. */
#if __SIZEOF_LONG__ == 8
#define TRACE_LONG_PADDING	u32 padding;
#else
#define TRACE_LONG_PADDING
#endif

/**
 * struct trace_event_buffer - an event that is being written
 * @cpu:	whose ring buffer it is in
 * @event:	where
 * @length:	bytes, with its struct trace_entry
 * @flags:	interrupts before they were masked
 */
struct trace_event_buffer {
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	u32 length;
	unsigned long flags;
};

/**
 * trace_event_reserve - begin an event
 * @buffer:	for trace_event_commit()
 * @type:	TRACE_*
 * @length:	bytes, with its struct trace_entry, which is filled in
 *
 * Return: where it is, or NULL: interrupts are as they were, and there is nothing to commit.
 */
void *trace_event_reserve(struct trace_event_buffer *buffer, u16 type, u32 length);

/**
 * trace_event_commit - the event is complete
 * @buffer:	as trace_event_reserve() left it
 * @from:	where a stack trace is to begin, if one is wanted: a return address, or a call site
 */
void trace_event_commit(struct trace_event_buffer *buffer, unsigned long from);

/** trace_stack - write a kernel_stack event, with interrupts masked; @flags: before they were */
void trace_stack(unsigned long from, unsigned long flags);

#endif
