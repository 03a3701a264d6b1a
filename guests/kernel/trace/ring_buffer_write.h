/* SPDX-License-Identifier: MIT */
#ifndef _RING_BUFFER_WRITE_H
#define _RING_BUFFER_WRITE_H

/*
 * How an event gets into the ring buffer: reserve, fill, commit. The caller has masked interrupts
 * and is on the CPU that the buffer belongs to, so nobody else writes between the two. Inline,
 * because this is most of what a traced call costs.
 */
#include <linux/kernel.h>
#include <linux/ring_buffer.h>

#include <asm/timer.h>

/* An event begins with one word: what or how long it is, and the time since the one before. */
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
 * The length of the payload stands in type_len, in words. Where 64-bit values have to be aligned
 * type_len is 0 and the length follows in a word of its own, in bytes and with itself counted:
 * so the payload begins at a multiple of 8, and every event is a multiple of 8 long.
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

#define RB_DATA_SIZE		((u32)sizeof(((struct ring_buffer_page *)0)->data))

/**
 * ring_buffer_make_room - everything that is rare: a new page, a long pause, a full buffer
 * @cpu:	this CPU's buffer
 * @size:	bytes that the event takes, with its header
 * @now:	the time of the event
 *
 * Afterwards cpu->tail_page has room, and the low RB_DELTA_BITS of @now - cpu->last_stamp are what
 * belongs into the event's header.
 *
 * Return: false if the event is refused; it has been counted.
 */
bool ring_buffer_make_room(struct ring_buffer_per_cpu *cpu, u32 size, u64 now);

/**
 * ring_buffer_reserve - begin an event
 * @cpu:	this CPU's buffer
 * @length:	bytes of payload, a constant: a multiple of 4, at most 112
 *
 * Return: where the payload goes, or NULL if the event is refused. After NULL there is no commit.
 */
static __always_inline void *ring_buffer_reserve(struct ring_buffer_per_cpu *cpu, u32 length)
{
	const u32 size = ALIGN(RB_HEADER_SIZE + length, RB_ALIGNMENT);
	struct ring_buffer_page *page = cpu->tail_page;
	u64 now = sched_clock();
	u64 delta = now - cpu->last_stamp;
	u32 *event;

	WRITE_ONCE(cpu->writing, 1);
	/* An empty page (commit 0) and a full one are told apart from the rest in one comparison. */
	if (unlikely(cpu->tail != cpu->tail_cached || delta > RB_DELTA_MASK ||
		     (u32)page->commit - 1 >= RB_DATA_SIZE - size)) {
		if (!ring_buffer_make_room(cpu, size, now)) {
			WRITE_ONCE(cpu->writing, 0);
			return NULL;
		}
		page = cpu->tail_page;
		delta = (now - cpu->last_stamp) & RB_DELTA_MASK;
	}

	event = (u32 *)(page->data + page->commit);
	*event = RB_EVENT(RB_TYPE_LEN(length), (u32)delta);
	if (RB_HEADER_SIZE == 8)
		event[1] = length + 4;
	cpu->last_stamp = now;
	return (u8 *)event + RB_HEADER_SIZE;
}

/**
 * ring_buffer_commit - the event is complete and may be read
 * @cpu:	as for ring_buffer_reserve()
 * @length:	as for ring_buffer_reserve()
 */
static __always_inline void ring_buffer_commit(struct ring_buffer_per_cpu *cpu, u32 length)
{
	barrier();
	cpu->tail_page->commit += ALIGN(RB_HEADER_SIZE + length, RB_ALIGNMENT);
	cpu->entries++;
	barrier();
	WRITE_ONCE(cpu->writing, 0);
}

#endif
