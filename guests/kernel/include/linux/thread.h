/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_THREAD_H
#define _LINUX_THREAD_H

/*
 * Threads, for the rest of the kernel and the workloads. They share all memory but their stacks,
 * are preempted by ticks, and run on any CPU unless they are bound to one.
 */
#include <linux/sched.h>

/**
 * kthread_run - start a thread
 * @function:	runs in the thread; the thread ends when it returns
 * @argument:	for @function
 * @name:	at most 15 characters
 *
 * It begins with an empty return stack of the graph tracer and without locks. Panics if there are
 * NR_THREADS already. Every thread must be joined.
 */
struct thread_info *kthread_run(int (*function)(void *), void *argument, const char *name);

/** kthread_run_on - the same, for a thread that stays on one CPU */
struct thread_info *kthread_run_on(unsigned int cpu, int (*function)(void *), void *argument,
				   const char *name);

/** kthread_join - wait for the end of a thread and free it; returns what it returned */
int kthread_join(struct thread_info *thread);

/** thread_exit - end the current thread, as if its function returned @status */
void thread_exit(int status) __noreturn;

/** thread_yield - let other threads run first, if there are any */
void thread_yield(void);

/** local_clock - sched_clock() for callers with interrupts enabled */
u64 local_clock(void);

/** nsleep - sleep for at least @ns nanoseconds: until the first tick after them */
void nsleep(u64 ns);
void msleep(unsigned int ms);

/* A mutex: callers sleep until it is free. Not for interrupt handlers. */
struct mutex {
	struct thread_info *owner;
	struct thread_list waiters;
};

void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

/* wait_for_completion() returns once for each complete(), which interrupt handlers may call. */
struct completion {
	unsigned int done;
	struct thread_list waiters;
};

void complete(struct completion *completion);
void wait_for_completion(struct completion *completion);

#endif
