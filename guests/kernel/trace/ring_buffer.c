// SPDX-License-Identifier: MIT
/*
 * The slow path of the ring buffer: its pages. linux/ring_buffer.h describes their layout,
 * ring_buffer_write.h writes events.
 */
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "ring_buffer_write.h"

extern struct ring_buffer_page __ring_buffer_pages[NR_CPUS][RING_BUFFER_MAX_PAGES];
extern struct ring_buffer_page __max_buffer_pages[MAX_BUFFER_PAGES];

static u32 first_entry[NR_CPUS][RING_BUFFER_MAX_PAGES];
static u32 max_first_entry[MAX_BUFFER_PAGES];

struct ring_buffer ring_buffer;
struct ring_buffer max_buffer;

_Static_assert(sizeof(struct ring_buffer_page) == RING_BUFFER_PAGE_SIZE, "page layout");
_Static_assert(sizeof(struct ring_buffer_header) == 48, "header layout");
_Static_assert(offsetof(struct ring_buffer_per_cpu, tail_page) == 56, "per-CPU layout");

static struct ring_buffer_page *page_at(const struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	struct ring_buffer_page *pages = (void *)(unsigned long)cpu->pages;

	return pages + sequence % cpu->nr_pages;
}

static u32 *first_entry_at(const struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	u32 *entries = (void *)(unsigned long)cpu->first_entry;

	return entries + sequence % cpu->nr_pages;
}

/* Atomic, because an NMI may come in between. */
static void count_dropped(struct ring_buffer_per_cpu *cpu)
{
	__atomic_fetch_add(&cpu->dropped, 1, __ATOMIC_RELAXED);
}

static void set_tail(struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	cpu->tail_page = (unsigned long)page_at(cpu, sequence);
	cpu->tail = sequence;
}

static bool is_full(const struct ring_buffer_per_cpu *cpu)
{
	return cpu->tail - cpu->head + 1 == cpu->nr_pages;
}

__breakpoint void ring_buffer_watermark(void)
{
	barrier();
}

/* Free the oldest page: by overwriting it, or by calling the debugger. */
static bool free_page(struct ring_buffer_per_cpu *cpu)
{
	if (ring_buffer.header.flags & RB_FL_OVERWRITE) {
		cpu->overrun += *first_entry_at(cpu, cpu->head + 1) -
				*first_entry_at(cpu, cpu->head);
		cpu->head++;
		return true;
	}
	/* At a debugger's breakpoint no event is incomplete. */
	WRITE_ONCE(cpu->writing, 0);
	ring_buffer_watermark();
	WRITE_ONCE(cpu->writing, 1);
	return !is_full(cpu);
}

/* For a pause of any length. */
static __always_inline void read_clock(const struct ring_buffer_per_cpu *cpu,
				       struct ring_buffer_time *time)
{
	if (likely(ring_buffer_read_clock(cpu, time)))
		return;
	time->now = sched_clock();
	time->count = sched_clock_count();
}

static __always_inline bool find_room(struct ring_buffer_per_cpu *cpu, u32 size,
				      struct ring_buffer_time *time)
{
	struct ring_buffer_page *page;
	u32 extend, *event;
	u64 delta;

	read_clock(cpu, time);
	page = ring_buffer_tail_page(cpu);
	if (page->commit) {
		delta = time->now - cpu->last_stamp;
		extend = delta > RB_DELTA_MASK ? RB_TIME_EXTEND_SIZE : 0;
		if (page->commit + extend + size <= RB_DATA_SIZE) {
			if (extend) {
				event = (u32 *)(page->data + page->commit);
				event[0] = RB_EVENT(RB_TYPE_TIME_EXTEND, 0);
				event[1] = delta >> RB_DELTA_BITS;
				page->commit += extend;
			}
			time->delta = (u32)delta & RB_DELTA_MASK;
			return true;
		}
		if (is_full(cpu)) {
			if (!free_page(cpu))
				return false;
			/* An NMI may have written while free_page() waited for the debugger. */
			read_clock(cpu, time);
		}
		page = page_at(cpu, cpu->tail + 1);
		page->commit = 0;
		barrier();
		cpu->tail_page = (unsigned long)page;
		cpu->tail++;
	}

	/* The first event of a page has the page's time stamp. */
	page->time_stamp = time->now;
	*first_entry_at(cpu, cpu->tail) = cpu->entries;
	time->delta = 0;
	return true;
}

bool ring_buffer_make_room(struct ring_buffer_per_cpu *cpu, u32 size,
			   struct ring_buffer_time *time)
{
	WRITE_ONCE(cpu->writing, 1);
	barrier();
	if (find_room(cpu, size, time))
		return true;
	count_dropped(cpu);
	WRITE_ONCE(cpu->writing, 0);
	return false;
}

void ring_buffer_refused(struct ring_buffer_per_cpu *cpu)
{
	if (!(ring_buffer_is_off() | READ_ONCE(cpu->record_disabled)))
		count_dropped(cpu);
}

/* Longer than type_len can say: as where 64-bit values have to be aligned, see RB_TYPE_LEN(). */
#define RB_LONG_HEADER_SIZE	8

static u32 any_header_size(u32 length)
{
	return length > RB_MAX_TYPE_LENGTH ? RB_LONG_HEADER_SIZE : RB_HEADER_SIZE;
}

static u32 any_event_size(u32 length)
{
	return ALIGN(any_header_size(length) + length, RB_ALIGNMENT);
}

bool ring_buffer_reserve_any(struct ring_buffer_per_cpu *cpu, u32 length,
			     struct ring_buffer_event *event)
{
	struct ring_buffer_time time;
	u32 *header;

	length = ALIGN(length, 4);
	if (!ring_buffer_make_room(cpu, any_event_size(length), &time))
		return false;
	ring_buffer_begin(cpu, length, &time, event);
	if (length > RB_MAX_TYPE_LENGTH) {
		header = (u32 *)(event->page->data + event->begin);
		header[0] = RB_EVENT(0, time.delta);
		header[1] = any_event_size(length) - 4;
		event->data = header + 2;
	}
	return true;
}

void ring_buffer_commit_any(struct ring_buffer_per_cpu *cpu, u32 length,
			    const struct ring_buffer_event *event)
{
	length = ALIGN(length, 4);
	ring_buffer_commit_size(cpu, any_event_size(length), event);
}

void ring_buffer_restart(struct ring_buffer_per_cpu *cpu)
{
	WRITE_ONCE(cpu->writing, 1);
	barrier();
	cpu->head = 0;
	set_tail(cpu, 0);
	ring_buffer_tail_page(cpu)->time_stamp = 0;
	ring_buffer_tail_page(cpu)->commit = 0;
	cpu->entries = 0;
	cpu->overrun = 0;
	barrier();
	WRITE_ONCE(cpu->writing, 0);
}

void ring_buffer_keep(struct ring_buffer *copy, int cpu)
{
	const struct ring_buffer_per_cpu *from = &ring_buffer.cpu[cpu];
	struct ring_buffer_per_cpu *to = &copy->cpu[cpu];
	u32 count = from->tail - from->head + 1, first, i;

	/* head = tail + 1: empty. */
	for (i = 0; i < NR_CPUS; i++) {
		copy->cpu[i].head = 1;
		copy->cpu[i].tail = 0;
		copy->cpu[i].entries = 0;
		copy->cpu[i].overrun = 0;
	}
	if (count > to->max_pages)
		count = to->max_pages;
	first = from->tail - count + 1;
	for (i = 0; i < count; i++) {
		memcpy(page_at(to, i), page_at(from, first + i), RING_BUFFER_PAGE_SIZE);
		*first_entry_at(to, i) = *first_entry_at(from, first + i);
	}
	to->head = 0;
	set_tail(to, count - 1);
	to->entries = from->entries;
	to->overrun = *first_entry_at(to, 0);
	to->dropped = from->dropped;
}

static void init_cpu(struct ring_buffer_per_cpu *cpu, struct ring_buffer_page *pages,
		     u32 *entries, u32 max_pages, u32 nr_pages)
{
	cpu->pages = (unsigned long)pages;
	cpu->first_entry = (unsigned long)entries;
	cpu->max_pages = max_pages;
	cpu->nr_pages = nr_pages;
	ring_buffer_restart(cpu);
}

static void init_header(struct ring_buffer_header *header)
{
	header->version = RING_BUFFER_VERSION;
	header->header_size = offsetof(struct ring_buffer, cpu);
	header->cpu_size = sizeof(struct ring_buffer_per_cpu);
	header->nr_cpus = NR_CPUS;
	header->long_size = sizeof(long);
	header->page_size = RING_BUFFER_PAGE_SIZE;
	header->clock_hz = 1000000000;
	/* Last: the magic number makes the header valid. */
	barrier();
	header->magic = RING_BUFFER_MAGIC;
}

void ring_buffer_init(void)
{
	int i;

	for (i = 0; i < NR_CPUS; i++) {
		init_cpu(&ring_buffer.cpu[i], __ring_buffer_pages[i], first_entry[i],
			 RING_BUFFER_MAX_PAGES, RING_BUFFER_PAGES);
		init_cpu(&max_buffer.cpu[i], __max_buffer_pages, max_first_entry,
			 MAX_BUFFER_PAGES, MAX_BUFFER_PAGES);
		max_buffer.cpu[i].head = 1;
	}
	init_header(&ring_buffer.header);
	init_header(&max_buffer.header);
}
