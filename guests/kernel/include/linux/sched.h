/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/types.h>

struct ftrace_ret_stack;
struct ring_buffer_per_cpu;

/**
 * struct thread_info - what the kernel knows about the thread that runs
 * @cpu:		the CPU that the thread is on
 * @pid:		thread number in the trace; the boot thread is 0
 * @preempt_count:	nesting of "must not be preempted"
 * @flags:		TIF_* bits
 * @curr_ret_stack:	index of the newest entry in @ret_stack; -1 when it is empty
 * @trace_overrun:	functions that the graph tracer left alone because @ret_stack was full
 * @trace_recursion:	not 0 while the tracer runs for this thread: a call site in between is
 *			passed over
 * @ret_stack:		the return addresses that the graph tracer has taken, FTRACE_RETFUNC_DEPTH
 *			entries
 * @ring_buffer:	@cpu's: whoever sets one sets the other
 * @comm:		thread name in the trace
 */
struct thread_info {
	s32 cpu;
	s32 pid;
	u32 preempt_count;
	u32 flags;
	s32 curr_ret_stack;	/* at THREAD_CURR_RET_STACK, for setjmp() and longjmp() */
	u32 trace_overrun;
	unsigned long trace_recursion;
	struct ftrace_ret_stack *ret_stack;
	struct ring_buffer_per_cpu *ring_buffer;
	char comm[16];
};

/* The boot thread; head.S makes it current before it calls start_kernel(). */
extern struct thread_info init_thread;

/* `current`: the struct thread_info * that the arch keeps in a register. */
#include <asm/current.h>

#endif
