/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_STACKTRACE_H
#define _LINUX_STACKTRACE_H

#include <linux/sched.h>

struct pt_regs;

/* False: no more. */
typedef bool (*stack_trace_consume_fn)(void *cookie, unsigned long address);

/**
 * arch_stack_walk - the return addresses on a stack, innermost first
 * @consume:	gets each of them
 * @cookie:	for @consume
 * @thread:	whose stack: `current`, or a thread that does not run
 * @regs:	where to begin, pc included; NULL: with the caller, or where @thread was switched out
 *
 * It walks through interrupts and the port's stubs; where return_to_handler has taken the place
 * of a return address, ftrace_graph_ret_addr() knows it.
 */
void arch_stack_walk(stack_trace_consume_fn consume, void *cookie, struct thread_info *thread,
		     struct pt_regs *regs);

/**
 * struct stack_trace - return addresses, innermost first
 * @nr_entries:		how many there are
 * @max_entries:	how many @entries has room for
 * @entries:		the addresses
 * @skip:		innermost ones to leave out
 */
struct stack_trace {
	unsigned int nr_entries;
	unsigned int max_entries;
	unsigned long *entries;
	unsigned int skip;
};

/** save_stack_trace - who has called; the caller of this function comes first */
void save_stack_trace(struct stack_trace *trace);

/** save_stack_trace_tsk - the same for another thread, which must not run meanwhile */
void save_stack_trace_tsk(struct thread_info *thread, struct stack_trace *trace);

#endif
