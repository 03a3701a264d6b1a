/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_THREAD_H
#define _LINUX_THREAD_H

/*
 * Threads as the rest of the kernel and workloads use them. They share everything but their stacks,
 * are preempted by ticks, and run on any CPU unless they are bound to one.
 */
#include <linux/sched.h>

/**
 * kthread_run - start a thread
 * @function:	what it does; returning from it ends the thread
 * @argument:	for @function
 * @name:	at most 15 characters
 *
 * It inherits the graph tracer's empty return stack and no locks. Panics if there are NR_THREADS
 * already. Every thread has to be joined.
 */
struct thread_info *kthread_run(int (*function)(void *), void *argument, const char *name);

/** kthread_run_on - the same, for a thread that stays on one CPU */
struct thread_info *kthread_run_on(unsigned int cpu, int (*function)(void *), void *argument,
				   const char *name);

/** kthread_join - wait until a thread has ended, and give its place back; what it returned */
int kthread_join(struct thread_info *thread);

/** thread_exit - end the current thread, as if its function returned @status */
void thread_exit(int status) __noreturn;

/** thread_yield - let the others run first; nothing happens if there are none */
void thread_yield(void);

/** local_clock - sched_clock() for those who have not masked interrupts */
u64 local_clock(void);

/** nsleep - sleep for at least @ns nanoseconds: until the first tick after them */
void nsleep(u64 ns);
void msleep(unsigned int ms);

/* A mutex: whoever finds it taken sleeps. Not for interrupt handlers. */
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
