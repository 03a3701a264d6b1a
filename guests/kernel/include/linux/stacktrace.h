/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_STACKTRACE_H
#define _LINUX_STACKTRACE_H

#include <linux/sched.h>

struct pt_regs;

/* Returns false to stop the walk. */
typedef bool (*stack_trace_consume_fn)(void *cookie, unsigned long address);

/**
 * arch_stack_walk - the return addresses on a stack, innermost first
 * @consume:	called with each of them
 * @cookie:	for @consume
 * @thread:	whose stack: `current`, or a thread that does not run
 * @regs:	first frame, including its pc; NULL: the caller, or where @thread was switched out
 *
 * It walks through interrupts and the port's stubs. ftrace_graph_ret_addr() replaces
 * return_to_handler by the original return address.
 */
void arch_stack_walk(stack_trace_consume_fn consume, void *cookie, struct thread_info *thread,
		     struct pt_regs *regs);

/**
 * struct stack_trace - return addresses, innermost first
 * @nr_entries:		number of addresses
 * @max_entries:	size of @entries
 * @entries:		the addresses
 * @skip:		number of innermost addresses to skip
 */
struct stack_trace {
	unsigned int nr_entries;
	unsigned int max_entries;
	unsigned long *entries;
	unsigned int skip;
};

/** save_stack_trace - the current stack, beginning with the caller of this function */
void save_stack_trace(struct stack_trace *trace);

/** save_stack_trace_tsk - the same for another thread, which must not be running */
void save_stack_trace_tsk(struct thread_info *thread, struct stack_trace *trace);

#endif
