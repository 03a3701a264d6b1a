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

static u32 page_index(const struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	return sequence % cpu->nr_pages;
}

static u32 *page_first_entry(const struct ring_buffer_per_cpu *cpu, u32 sequence)
{
	return (u32 *)(unsigned long)cpu->first_entry + page_index(cpu, sequence);
}

static void find_tail_page(struct ring_buffer_per_cpu *cpu)
{
	struct ring_buffer_page *pages = (void *)(unsigned long)cpu->pages;

	cpu->tail_page = pages + page_index(cpu, cpu->tail);
	cpu->tail_cached = cpu->tail;
}

static bool is_full(const struct ring_buffer_per_cpu *cpu)
{
	return cpu->tail - cpu->head + 1 == cpu->nr_pages;
}

notrace noinline void ring_buffer_watermark(void)
{
	barrier();
}

/* The tail page is full: go to the next one if there is any. */
static bool next_page(struct ring_buffer_per_cpu *cpu)
{
	if (is_full(cpu)) {
		if (ring_buffer.header.flags & RB_FL_OVERWRITE) {
			cpu->overrun += *page_first_entry(cpu, cpu->head + 1) -
					*page_first_entry(cpu, cpu->head);
			cpu->head++;
		} else {
			ring_buffer_watermark();
			if (is_full(cpu)) {
				cpu->dropped++;
				return false;
			}
		}
	}
	cpu->tail++;
	find_tail_page(cpu);
	cpu->tail_page->commit = 0;
	return true;
}

bool ring_buffer_make_room(struct ring_buffer_per_cpu *cpu, u32 size, u64 now)
{
	u64 delta = now - cpu->last_stamp;
	u32 extend, *event;

	if (cpu->tail_cached != cpu->tail)
		find_tail_page(cpu);

	if (cpu->tail_page->commit) {
		extend = delta > RB_DELTA_MASK ? RB_TIME_EXTEND_SIZE : 0;
		if (cpu->tail_page->commit + extend + size <= RB_DATA_SIZE) {
			if (extend) {
				event = (u32 *)(cpu->tail_page->data + cpu->tail_page->commit);
				event[0] = RB_EVENT(RB_TYPE_TIME_EXTEND, 0);
				event[1] = delta >> RB_DELTA_BITS;
				cpu->tail_page->commit += extend;
			}
			return true;
		}
		if (!next_page(cpu))
			return false;
	}

	/* The first event of a page: the page's own time stamp says when. */
	*page_first_entry(cpu, cpu->tail) = cpu->entries;
	cpu->tail_page->time_stamp = now;
	cpu->last_stamp = now;
	return true;
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
		find_tail_page(cpu);
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
