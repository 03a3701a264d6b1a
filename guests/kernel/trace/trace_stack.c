// SPDX-License-Identifier: MIT
/*
 * kernel_stack events: a stack trace after an event.
 */
#include <linux/kernel.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/unwind.h>

#include "trace_event.h"

#define MAX_CALLERS	32

/* Maximum distance from a call site to the return address of its call. */
#define SITE_SIZE	64

struct stack_entry {
	struct trace_entry entry;
	s32 size;
	TRACE_LONG_PADDING
	unsigned long caller[];
} __packed __aligned(RB_ALIGNMENT);

struct walk {
	unsigned long from;
	u32 count;
	bool found;
	unsigned long callers[MAX_CALLERS];
};

/* Skip the tracer's own frames. */
static bool save_caller(void *cookie, unsigned long address)
{
	struct walk *walk = cookie;

	if (!walk->found && address - walk->from <= SITE_SIZE) {
		walk->found = true;
		walk->count = 0;
	}
	if (walk->count < MAX_CALLERS)
		walk->callers[walk->count++] = address;
	return walk->count < MAX_CALLERS;
}

noinline void trace_stack(unsigned long from, unsigned long flags)
{
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	struct ring_buffer_event event;
	struct stack_entry *entry;
	struct walk walk = { .from = unwind_strip(from) };
	u32 length;

	if (ring_buffer_refuses(cpu)) {
		ring_buffer_refused(cpu);
		return;
	}
	arch_stack_walk(save_caller, &walk, current, NULL);
	length = sizeof(*entry) + walk.count * sizeof(long);
	if (!ring_buffer_reserve_any(cpu, length, &event))
		return;
	entry = event.data;
	trace_entry_fill(&entry->entry, TRACE_STACK, current, flags);
	entry->size = walk.count;
	memcpy(entry->caller, walk.callers, walk.count * sizeof(long));
	ring_buffer_commit_any(cpu, length, &event);
}
