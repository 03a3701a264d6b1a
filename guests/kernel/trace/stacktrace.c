// SPDX-License-Identifier: MIT
/*
 * Stack traces from the unwinder. In this directory, which has no call sites, because the tracer
 * needs stack traces too.
 */
#include <linux/stacktrace.h>
#include <linux/unwind.h>

/* @from: skip entries before this address; 0: none. */
struct walk {
	struct stack_trace *trace;
	unsigned long from;
};

static bool save_entry(void *cookie, unsigned long address)
{
	struct walk *walk = cookie;
	struct stack_trace *trace = walk->trace;

	if (walk->from && address != walk->from)
		return true;
	walk->from = 0;
	if (trace->skip) {
		trace->skip--;
		return true;
	}
	if (trace->nr_entries < trace->max_entries)
		trace->entries[trace->nr_entries++] = address;
	return trace->nr_entries < trace->max_entries;
}

noinline void save_stack_trace_tsk(struct thread_info *thread, struct stack_trace *trace)
{
	struct walk walk = { .trace = trace, .from = 0 };

	trace->nr_entries = 0;
	arch_stack_walk(save_entry, &walk, thread, NULL);
}

noinline void save_stack_trace(struct stack_trace *trace)
{
	/* The number of functions in between depends on the compiler. */
	struct walk walk = {
		.trace = trace,
		.from = unwind_strip((unsigned long)__builtin_return_address(0)),
	};

	trace->nr_entries = 0;
	arch_stack_walk(save_entry, &walk, current, NULL);
}
