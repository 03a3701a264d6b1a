/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_RING_BUFFER_H
#define _LINUX_RING_BUFFER_H

/*
 * The ring buffer as seen by a debugger: a self-describing header, and pages per CPU in the layout
 * of Linux's sub-buffers.
 */
#include <linux/threads.h>

#define RING_BUFFER_MAGIC	0x46545242u	/* "FTRB", read as a big-endian word */
#define RING_BUFFER_VERSION	3
#define RING_BUFFER_PAGE_SIZE	4096
#define RING_BUFFER_PAGES	1024
#define RING_BUFFER_MAX_PAGES	4096
#define MAX_BUFFER_PAGES	256
#define RB_FL_OVERWRITE		1	/* keep the newest events: see struct ring_buffer_header */

#ifndef __ASSEMBLER__

#include <linux/compiler.h>
#include <linux/sched.h>

/**
 * struct ring_buffer_page - a page of events
 * @time_stamp:	time of the first event
 * @commit:	bytes of @data in use; grows after an event is complete
 */
struct ring_buffer_page {
	u64 time_stamp;
	long commit;
	u8 data[RING_BUFFER_PAGE_SIZE - sizeof(u64) - sizeof(long)];
};

/**
 * struct ring_buffer_header - how to read the rest; fields stay where they are within a version
 * @magic:		RING_BUFFER_MAGIC
 * @version:		RING_BUFFER_VERSION
 * @header_size:	bytes from here to the first struct ring_buffer_per_cpu
 * @cpu_size:		bytes from one struct ring_buffer_per_cpu to the next
 * @nr_cpus:		how many of them there are
 * @long_size:		4 or 8
 * @page_size:		bytes of a struct ring_buffer_page
 * @flags:		RB_FL_OVERWRITE; written by the debugger
 * @clock_hz:		units of the time stamps
 * @record_disabled:	not 0: events are refused and not counted; written by the debugger
 * @reserved:		0
 */
struct ring_buffer_header {
	u32 magic;
	u32 version;
	u32 header_size;
	u32 cpu_size;
	u32 nr_cpus;
	u32 long_size;
	u32 page_size;
	u32 flags;
	u64 clock_hz;
	u32 record_disabled;
	u32 reserved;
};

/**
 * struct ring_buffer_per_cpu - the pages and counters of one CPU
 * @pages:		address of page 0; the others follow it
 * @first_entry:	address of a u32 per page: @entries at its first event
 * @max_pages:		allocated pages
 * @nr_pages:		pages in use, at least 2
 * @head:		sequence number of the oldest unread page, which is page @head % @nr_pages;
 *			moved on by the debugger when it has read, and by an overwrite
 * @tail:		sequence number of the current page
 * @entries:		events written
 * @overrun:		events overwritten before they were read
 * @dropped:		events refused: the buffer was full, or an event was being written
 * @writing:		not 0 from before the reserve to the commit of an event
 * @record_disabled:	not 0: this CPU's events are refused and not counted (tracing_cpumask);
 *			written by the debugger
 * @last_stamp:		time of the last event
 * @tail_page:		address of the page of @tail; a debugger that sets one sets the other
 * @last_count:	private: the clock's counter at @last_stamp, if the arch uses it
 */
struct ring_buffer_per_cpu {
	u64 pages;
	u64 first_entry;
	u32 max_pages;
	u32 nr_pages;
	u32 head;
	u32 tail;
	u32 entries;
	u32 overrun;
	u32 dropped;
	u16 writing;
	u16 record_disabled;
	u64 last_stamp;
	u64 tail_page;
	u32 last_count;
} __aligned(128);	/* a power of two, so that finding one's own takes no multiplication */

struct ring_buffer {
	struct ring_buffer_header header;
	struct ring_buffer_per_cpu cpu[NR_CPUS];
};

extern struct ring_buffer ring_buffer;

/*
 * The longest section of the irqsoff tracer: the pages of its CPU; all others are empty. It is read
 * in the same way, without moving head.
 */
extern struct ring_buffer max_buffer;

void ring_buffer_init(void);

/**
 * ring_buffer_watermark - called before an event is refused because no page is free
 *
 * It is empty. A debugger stops here, reads all pages, which are complete, sets head = tail + 1 and
 * continues, so that no event is lost.
 */
void ring_buffer_watermark(void);

#endif

#endif
