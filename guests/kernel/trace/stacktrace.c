// SPDX-License-Identifier: MIT
/*
 * Stack traces out of what the arch's unwinder finds. Here because nothing in this directory has
 * call sites: the tracer asks for stack traces too.
 */
#include <linux/stacktrace.h>

void __weak arch_stack_walk(stack_trace_consume_fn consume, void *cookie,
			    struct thread_info *thread, struct pt_regs *regs)
{
}

static bool save_entry(void *cookie, unsigned long address)
{
	struct stack_trace *trace = cookie;

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
	trace->nr_entries = 0;
	arch_stack_walk(save_entry, trace, thread, NULL);
}

noinline void save_stack_trace(struct stack_trace *trace)
{
	/* Not this function itself. */
	trace->skip++;
	save_stack_trace_tsk(current, trace);
}
