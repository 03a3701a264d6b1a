/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_RING_BUFFER_H
#define _LINUX_RING_BUFFER_H

/*
 * The ring buffer as a debugger sees it: one header that describes itself, then per CPU a set of
 * pages in the layout of Linux's sub-buffers. Whoever stops the guest can read everything.
 */
#include <linux/threads.h>

#define RING_BUFFER_MAGIC	0x46545242u	/* "FTRB", read as a big-endian word */
#define RING_BUFFER_VERSION	2
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
 * struct ring_buffer_per_cpu - the pages of one CPU, and what is counted
 * @pages:		address of page 0; the others follow it
 * @first_entry:	address of a u32 per page: @entries when the page was begun
 * @max_pages:		pages that memory is set aside for
 * @nr_pages:		pages in use, at least 2
 * @head:		sequence number of the oldest unread page, which is page @head % @nr_pages;
 *			moved on by the debugger when it has read, and by an overwrite
 * @tail:		sequence number of the page that is being written
 * @entries:		events written
 * @overrun:		events overwritten before they were read
 * @dropped:		events refused: the buffer was full, or an event was being written
 * @writing:		not 0 while an event is half written, and from before it looks for its place
 * @last_stamp:		time of the last event
 * @tail_page:		address of the page of @tail; a debugger that sets one sets the other
 * @last_count:	private: the clock's counter at @last_stamp, where the arch has a use for it
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
	u32 writing;
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
 * What a latency tracer keeps of the longest section: the pages of the CPU that it was on, all
 * others are empty. To be read as the one above, with no need to move head on.
 */
extern struct ring_buffer max_buffer;

void ring_buffer_init(void);

/**
 * ring_buffer_watermark - called when an event is about to be refused because no page is free
 *
 * It does nothing. A debugger that stops here finds every page complete, reads them all, sets
 * head = tail + 1 and lets the guest go on, and no event is lost.
 */
void ring_buffer_watermark(void);

#endif

#endif
