/* SPDX-License-Identifier: MIT */
#ifndef _RING_BUFFER_WRITE_H
#define _RING_BUFFER_WRITE_H

/*
 * Writing an event: reserve, fill, commit. The caller has disabled interrupts and is on the
 * buffer's CPU, so that only an NMI, or recursion of the tracer, could write in between. Either
 * finds cpu->writing set, which is set before anything else is read, and is refused. Inline,
 * because this is most of the cost of a traced call.
 */
#include <linux/kernel.h>
#include <linux/ring_buffer.h>

#include <asm/timer.h>

/* An event begins with one word: its type or length, and the time since the previous one. */
#define RB_DELTA_BITS	27
#define RB_DELTA_MASK	((1u << RB_DELTA_BITS) - 1)

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define RB_EVENT(type_len, delta)	((u32)(type_len) << RB_DELTA_BITS | (delta))
#else
#define RB_EVENT(type_len, delta)	((u32)(delta) << 5 | (type_len))
#endif

#define RB_TYPE_TIME_EXTEND	30
#define RB_TIME_EXTEND_SIZE	8

/*
 * type_len is the length of the payload in words. If 64-bit values must be aligned, it is 0 and the
 * next word has the length in bytes, including itself and the padding: so the payload begins at a
 * multiple of 8, and the length of every event is a multiple of 8.
 */
#ifdef CONFIG_HAVE_64BIT_ALIGNED_ACCESS
#define RB_HEADER_SIZE		8
#define RB_ALIGNMENT		8
#define RB_TYPE_LEN(length)	0
#else
#define RB_HEADER_SIZE		4
#define RB_ALIGNMENT		4
#define RB_TYPE_LEN(length)	((length) / 4)
#endif

#define RB_MAX_TYPE_LENGTH	112	/* bytes that type_len can say */
#define RB_DATA_SIZE		((u32)sizeof(((struct ring_buffer_page *)0)->data))

/**
 * struct ring_buffer_event - an event that is being written
 * @page:	its page
 * @begin:	used bytes of the page before it
 * @data:	its payload
 * @time:	its time
 */
struct ring_buffer_event {
	struct ring_buffer_page *page;
	unsigned long begin;
	void *data;
	u64 time;
};

/**
 * struct ring_buffer_time - the time of an event
 * @now:	its time
 * @delta:	time since the previous event
 * @count:	the clock's counter, if the arch uses it
 */
struct ring_buffer_time {
	u64 now;
	u32 delta;
	u32 count;
};

#ifndef sched_clock_since
static __always_inline u32 sched_clock_count(void)
{
	return 0;
}
#endif

/* May be far too large, now and then, and takes fewer instructions. */
#ifndef sched_clock_once
#define sched_clock_once sched_clock
#endif

/* False if the pause was long. */
static __always_inline bool ring_buffer_read_clock(const struct ring_buffer_per_cpu *cpu,
						   struct ring_buffer_time *time)
{
#ifdef sched_clock_since
	bool little = sched_clock_since(cpu->last_count, &time->count, &time->delta);

	time->now = cpu->last_stamp + time->delta;
	return little;
#else
	u64 now = sched_clock_once();
	u64 delta = now - cpu->last_stamp;

	*time = (struct ring_buffer_time) { .now = now, .delta = delta };
	return delta <= RB_DELTA_MASK;
#endif
}

static __always_inline u32 ring_buffer_event_size(u32 length)
{
	return ALIGN(RB_HEADER_SIZE + length, RB_ALIGNMENT);
}

static __always_inline struct ring_buffer_per_cpu *ring_buffer_this_cpu(void)
{
	return current->ring_buffer;
}

static __always_inline struct ring_buffer_page *
ring_buffer_tail_page(const struct ring_buffer_per_cpu *cpu)
{
	return (struct ring_buffer_page *)(unsigned long)cpu->tail_page;
}

/* Not 0: events are neither recorded nor counted. Written by a debugger. */
static __always_inline u32 ring_buffer_is_off(void)
{
	return ring_buffer.header.record_disabled;
}

/* Not 0: this CPU is writing an event, or not to record any; see ring_buffer_refused(). */
static __always_inline u32 ring_buffer_cpu_refuses(const struct ring_buffer_per_cpu *cpu)
{
	/* Both members at once. */
	_Static_assert(offsetof(struct ring_buffer_per_cpu, writing) % 4 == 0 &&
		       offsetof(struct ring_buffer_per_cpu, record_disabled) ==
			       offsetof(struct ring_buffer_per_cpu, writing) + 2, "ring_buffer.h");
	return *(const volatile u32 *)&cpu->writing;
}

/* Not 0: this CPU refuses events now; see ring_buffer_refused(). */
static __always_inline u32 ring_buffer_refuses(const struct ring_buffer_per_cpu *cpu)
{
	return ring_buffer_cpu_refuses(cpu) | ring_buffer_is_off();
}

/* Write the word before the payload. There is room. */
static __always_inline void ring_buffer_begin(struct ring_buffer_per_cpu *cpu, u32 length,
					      const struct ring_buffer_time *time,
					      struct ring_buffer_event *event)
{
	u32 *header;

	event->page = ring_buffer_tail_page(cpu);
	event->begin = event->page->commit;
	event->time = time->now;
	header = (u32 *)(event->page->data + event->begin);
	event->data = (u8 *)header + RB_HEADER_SIZE;
	header[0] = RB_EVENT(RB_TYPE_LEN(length), time->delta);
	if (RB_HEADER_SIZE == 8)
		header[1] = ring_buffer_event_size(length) - 4;
	cpu->last_stamp = time->now;
	cpu->last_count = time->count;
}

/**
 * ring_buffer_try_reserve - reserve an event on the fast path
 * @cpu:	this CPU's buffer
 * @length:	bytes of payload, a constant: a multiple of 4, at most 112
 * @event:	where it is
 *
 * Calls no functions: a tracer that tail-calls another function with ring_buffer_reserve() if this
 * one fails saves no registers. The caller has checked ring_buffer_refuses().
 *
 * Return: false if ring_buffer_reserve() is needed.
 */
static __always_inline bool ring_buffer_try_reserve(struct ring_buffer_per_cpu *cpu, u32 length,
						    struct ring_buffer_event *event)
{
	struct ring_buffer_time time;

	WRITE_ONCE(cpu->writing, 1);
	barrier();
	/* One comparison for an empty and a full page: 0 - 1 is large. */
	if (unlikely(!ring_buffer_read_clock(cpu, &time) ||
		     (unsigned long)ring_buffer_tail_page(cpu)->commit - 1 >=
			     RB_DATA_SIZE - ring_buffer_event_size(length))) {
		WRITE_ONCE(cpu->writing, 0);
		return false;
	}
	ring_buffer_begin(cpu, length, &time, event);
	return true;
}

/**
 * ring_buffer_make_room - the slow path: a new page, a long pause, a full buffer
 * @cpu:	this CPU's buffer
 * @size:	bytes of the event with its header
 * @time:	gets the time of the event
 *
 * Return: false if the event is refused; that has been counted.
 */
bool ring_buffer_make_room(struct ring_buffer_per_cpu *cpu, u32 size,
			   struct ring_buffer_time *time);

/** ring_buffer_reserve - reserve an event; arguments and return value as above */
static __always_inline bool ring_buffer_reserve(struct ring_buffer_per_cpu *cpu, u32 length,
						struct ring_buffer_event *event)
{
	struct ring_buffer_time time;

	if (!ring_buffer_make_room(cpu, ring_buffer_event_size(length), &time))
		return false;
	ring_buffer_begin(cpu, length, &time, event);
	return true;
}

/**
 * ring_buffer_reserve_any - reserve an event of any length up to RB_MAX_LENGTH
 *
 * ring_buffer_commit_any() ends it.
 */
bool ring_buffer_reserve_any(struct ring_buffer_per_cpu *cpu, u32 length,
			     struct ring_buffer_event *event);
void ring_buffer_commit_any(struct ring_buffer_per_cpu *cpu, u32 length,
			    const struct ring_buffer_event *event);

#define RB_MAX_LENGTH	1024

/** ring_buffer_restart - delete this CPU's events, with interrupts disabled */
void ring_buffer_restart(struct ring_buffer_per_cpu *cpu);

/** ring_buffer_keep - copy the newest events of one CPU, as far as they fit */
void ring_buffer_keep(struct ring_buffer *copy, int cpu);

/**
 * ring_buffer_refused - count an event that came while this CPU was writing one, unless it is off
 */
void ring_buffer_refused(struct ring_buffer_per_cpu *cpu);

static __always_inline void ring_buffer_commit_size(struct ring_buffer_per_cpu *cpu, u32 size,
						    const struct ring_buffer_event *event)
{
	barrier();
	WRITE_ONCE(event->page->commit, event->begin + size);
	cpu->entries++;
	barrier();
	WRITE_ONCE(cpu->writing, 0);
}

/** ring_buffer_commit - the event is complete and may be read; arguments as they were */
static __always_inline void ring_buffer_commit(struct ring_buffer_per_cpu *cpu, u32 length,
					       const struct ring_buffer_event *event)
{
	ring_buffer_commit_size(cpu, ring_buffer_event_size(length), event);
}

#endif
