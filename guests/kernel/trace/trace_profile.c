// SPDX-License-Identifier: MIT
/*
 * The function profiler. Each CPU has its own table, so there are no locks: with interrupts
 * disabled only an NMI comes in between. It may add slots and count calls, which is atomic; the
 * time of its functions is not added to one that is just being added.
 */
#include <linux/ftrace_triggers.h>
#include <linux/function_profile.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include <asm/timer.h>

struct function_profile function_profiles[NR_CPUS][FUNCTION_PROFILE_SLOTS];
u32 function_profile_missed[NR_CPUS];

_Static_assert(!(FUNCTION_PROFILE_SLOTS & (FUNCTION_PROFILE_SLOTS - 1)), "function_profile.h");

/* The slot of a function on this CPU, or the first free one; NULL: there is neither. */
static struct function_profile *find_slot(unsigned long ip)
{
	struct function_profile *slots = function_profiles[current->cpu];
	u32 hash = (u32)(ip / 4) * 0x9e3779b1u >> 16;
	u32 i;

	for (i = 0; i < FUNCTION_PROFILE_SLOTS; i++) {
		struct function_profile *slot = &slots[(hash + i) % FUNCTION_PROFILE_SLOTS];
		unsigned long found = READ_ONCE(slot->ip);

		if (!found || found == ip)
			return slot;
	}
	return NULL;
}

/* With interrupts disabled. */
static void count_call(unsigned long ip)
{
	struct function_profile *slot;
	unsigned long free;

	do {
		slot = find_slot(ip);
		if (!slot) {
			__atomic_fetch_add(&function_profile_missed[current->cpu], 1,
					   __ATOMIC_RELAXED);
			return;
		}
		free = 0;
		/* An NMI may have taken it for another function. */
	} while (READ_ONCE(slot->ip) != ip &&
		 !__atomic_compare_exchange_n(&slot->ip, &free, ip, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	__atomic_fetch_add(&slot->counter, 1, __ATOMIC_RELAXED);
}

static bool is_profiled(unsigned long ip)
{
	return !current->ftrace_ignore && !ftrace_is_hidden(ip);
}

void function_profile_count(unsigned long ip)
{
	unsigned long flags;

	if (!is_profiled(ip))
		return;
	raw_local_irq_save(flags);
	count_call(ip);
	raw_local_irq_restore(flags);
}

void function_profile_call(FTRACE_PARAMETERS)
{
	function_profile_count(ip);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#include "trace_functions_graph.h"

static bool adding[NR_CPUS];

int profile_graph_entry(struct ftrace_graph_ent *trace)
{
	struct ftrace_ret_stack *entry = &current->ret_stack[trace->depth];
	unsigned long flags;

	if (!is_profiled(trace->func))
		return 0;
	raw_local_irq_save(flags);
	count_call(trace->func);
	entry->flags = GRAPH_PROFILED;
	entry->calltime = sched_clock();
	raw_local_irq_restore(flags);
	return 1;
}

/* As in Linux, the time is lost if the function was never called on the CPU where it returns. */
void profile_graph_return(struct ftrace_graph_ret *trace)
{
	struct function_profile *slot;
	unsigned long flags;
	bool *busy;
	u64 time;

	if (!(current->ret_stack[trace->depth].flags & GRAPH_PROFILED))
		return;
	raw_local_irq_save(flags);
	time = sched_clock() - trace->calltime;
	slot = find_slot(trace->func);
	busy = &adding[current->cpu];
	if (slot && slot->ip == trace->func && !READ_ONCE(*busy)) {
		WRITE_ONCE(*busy, true);
		barrier();
		slot->time += time;
		slot->time_squared += time * time;
		barrier();
		WRITE_ONCE(*busy, false);
	}
	raw_local_irq_restore(flags);
}

#endif
