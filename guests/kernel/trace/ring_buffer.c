// SPDX-License-Identifier: MIT
/*
 * The rare half of the ring buffer: its pages. linux/ring_buffer.h says what they look like from
 * outside, ring_buffer_write.h how an event gets into one.
 */
#include <linux/kernel.h>
#include <linux/ring_buffer.h>

#include "ring_buffer_write.h"

extern struct ring_buffer_page __ring_buffer_pages[NR_CPUS][RING_BUFFER_MAX_PAGES];

static u32 first_entry[NR_CPUS][RING_BUFFER_MAX_PAGES];

struct ring_buffer ring_buffer;

_Static_assert(sizeof(struct ring_buffer_page) == RING_BUFFER_PAGE_SIZE, "page layout");
_Static_assert(sizeof(struct ring_buffer_header) == 48, "header layout");
_Static_assert(offsetof(struct ring_buffer_per_cpu, last_stamp) == 48, "per-CPU layout");

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

static void set_tail(struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	cpu->tail_page = page_at(cpu, sequence);
	cpu->tail_cached = sequence;
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

/* Make the oldest page free, by whatever means this buffer has. */
static bool free_page(struct ring_buffer_per_cpu *cpu)
{
	if (ring_buffer.header.flags & RB_FL_OVERWRITE) {
		cpu->overrun += *first_entry_at(cpu, cpu->head + 1) -
				*first_entry_at(cpu, cpu->head);
		cpu->head++;
		return true;
	}
	/* A debugger that reads here is to find nothing half done. */
	WRITE_ONCE(cpu->writing, 0);
	ring_buffer_watermark();
	WRITE_ONCE(cpu->writing, 1);
	return !is_full(cpu);
}

static bool find_room(struct ring_buffer_per_cpu *cpu, u32 size, u64 now)
{
	u64 delta = now - cpu->last_stamp;
	struct ring_buffer_page *page;
	u32 extend, *event;

	/* The debugger has emptied the buffer and started over. */
	if (cpu->tail_cached != cpu->tail)
		set_tail(cpu, cpu->tail);

	page = cpu->tail_page;
	if (page->commit) {
		extend = delta > RB_DELTA_MASK ? RB_TIME_EXTEND_SIZE : 0;
		if (page->commit + extend + size <= RB_DATA_SIZE) {
			if (extend) {
				event = (u32 *)(page->data + page->commit);
				event[0] = RB_EVENT(RB_TYPE_TIME_EXTEND, 0);
				event[1] = delta >> RB_DELTA_BITS;
				page->commit += extend;
			}
			return true;
		}
		if (is_full(cpu) && !free_page(cpu))
			return false;
		page = page_at(cpu, cpu->tail + 1);
		page->commit = 0;
		barrier();
		set_tail(cpu, cpu->tail + 1);
	}

	/* The first event of a page: the page's own time stamp says when. */
	page->time_stamp = now;
	*first_entry_at(cpu, cpu->tail) = cpu->entries;
	cpu->last_stamp = now;
	return true;
}

bool ring_buffer_make_room(struct ring_buffer_per_cpu *cpu, u32 size, u64 now)
{
	bool found;

	WRITE_ONCE(cpu->writing, 1);
	found = find_room(cpu, size, now);
	if (!found)
		cpu->dropped++;
	WRITE_ONCE(cpu->writing, 0);
	return found;
}

void ring_buffer_init(void)
{
	struct ring_buffer_header *header = &ring_buffer.header;
	struct ring_buffer_per_cpu *cpu;
	int i;

	for (i = 0; i < NR_CPUS; i++) {
		cpu = &ring_buffer.cpu[i];
		cpu->pages = (unsigned long)__ring_buffer_pages[i];
		cpu->first_entry = (unsigned long)first_entry[i];
		cpu->max_pages = RING_BUFFER_MAX_PAGES;
		cpu->nr_pages = RING_BUFFER_PAGES;
		set_tail(cpu, 0);
		cpu->tail_page->time_stamp = 0;
		cpu->tail_page->commit = 0;
	}

	header->version = RING_BUFFER_VERSION;
	header->header_size = offsetof(struct ring_buffer, cpu);
	header->cpu_size = sizeof(struct ring_buffer_per_cpu);
	header->nr_cpus = NR_CPUS;
	header->long_size = sizeof(long);
	header->page_size = RING_BUFFER_PAGE_SIZE;
	header->clock_hz = 1000000000;
	/* Last: with the magic number there the rest is valid. */
	barrier();
	header->magic = RING_BUFFER_MAGIC;
}
