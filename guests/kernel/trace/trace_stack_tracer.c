// SPDX-License-Identifier: MIT
/*
 * The stack tracer. Sizes of frames are the unwinder's, so the tracer's own frames do not count.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/stack_tracer.h>
#include <linux/unwind.h>

#include "trace.h"

#define control	(*(volatile struct stack_trace_control *)&stack_trace_control)

/* Maximum distance from a call site to the return address of its call. */
#define SITE_SIZE	64

struct stack_trace_control stack_trace_control;

static spinlock_t max_lock;

/* The least that the tracer and the port's stub have had on the stack; 0: not known yet. */
static u32 tracer_frames;

struct walk {
	struct unwind_frame frame;
	struct stack_trace_entry *entries;
	unsigned long from;
	u32 count;
};

/* Begin with the traced function; end if its stack is no deeper than another one was. */
static bool save_entry(void *cookie, unsigned long address)
{
	struct walk *walk = cookie;
	unsigned long depth = walk->frame.high - walk->frame.reg[UNWIND_SP];

	if (depth > walk->frame.high - walk->frame.low)
		return false;
	if (!walk->count && address - walk->from > SITE_SIZE)
		return true;
	walk->entries[walk->count].address = address;
	walk->entries[walk->count++].depth = depth;
	return walk->entries[0].depth > control.max_size && walk->count < STACK_TRACE_ENTRIES;
}

/* With interrupts disabled. @depth: with the tracer's frames. */
static noinline void find_maximum(unsigned long ip, u32 depth)
{
	u32 half = !control.newest;
	struct walk walk;
	u32 found, frames;

	walk.entries = stack_trace_control.entries + half * STACK_TRACE_ENTRIES;
	walk.from = ip;
	walk.count = 0;
	unwind_begin(&walk.frame, current);
	unwind_here(walk.frame.pc, walk.frame.reg);
	unwind_walk(&walk.frame, save_entry, &walk);
	if (!walk.count)
		return;
	found = walk.entries[0].depth;
	frames = depth > found ? depth - found : 0;
	if (!tracer_frames || frames < tracer_frames)
		tracer_frames = frames;
	if (found <= control.max_size)
		return;
	control.nr_entries[half] = walk.count;
	barrier();
	control.newest = half;
	control.max_size = found;
}

void stack_trace_call(unsigned long ip)
{
	struct unwind_frame bounds;
	unsigned long here, flags;

	unwind_bounds(&bounds, current);
	here = (unsigned long)__builtin_frame_address(0);
	if (here < bounds.low || here >= bounds.high || in_nmi() ||
	    bounds.high - here <= control.max_size + tracer_frames)
		return;
	if (control.nr_functions &&
	    !ftrace_find(control.functions, control.nr_functions, STACK_TRACE_MAX_FUNCS, ip))
		return;
	raw_local_irq_save(flags);
	raw_spin_lock(&max_lock);
	find_maximum(ip, bounds.high - here);
	raw_spin_unlock(&max_lock);
	raw_local_irq_restore(flags);
}
