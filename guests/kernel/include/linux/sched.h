/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/types.h>

/**
 * struct thread_info - what the kernel knows about the thread that runs
 * @cpu:		the CPU that the thread is on
 * @pid:		thread number in the trace; the boot thread is 0
 * @preempt_count:	nesting of "must not be preempted"
 * @flags:		TIF_* bits
 * @trace_recursion:	not 0 while the tracer runs for this thread: a call site in between is
 *			passed over
 * @comm:		thread name in the trace
 */
struct thread_info {
	s32 cpu;
	s32 pid;
	u32 preempt_count;
	u32 flags;
	unsigned long trace_recursion;
	char comm[16];
};

/* The boot thread; head.S makes it current before it calls start_kernel(). */
extern struct thread_info init_thread;

/* `current`: the struct thread_info * that the arch keeps in a register. */
#include <asm/current.h>

#endif
