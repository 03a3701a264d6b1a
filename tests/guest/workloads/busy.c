// SPDX-License-Identifier: MIT
/* Threads that call one function as fast as they can, one on each of up to four CPUs. */
#include <stddef.h>

#include <linux/thread.h>

#define CALLS 20000
#define THREADS 4

__attribute__((noipa)) int busy_leaf(int value)
{
	return value + 1;
}

static int busy(void *argument)
{
	int i, value = 0;

	for (i = 0; i < CALLS; i++)
		value = busy_leaf(value);
	return value;
}

int workload(void)
{
	struct thread_info *threads[THREADS];
	int i, bad = 0;

	for (i = 0; i < THREADS; i++)
		threads[i] = kthread_run_on(i % NR_CPUS, busy, NULL, "busy");
	for (i = 0; i < THREADS; i++)
		bad |= kthread_join(threads[i]) != CALLS;
	return bad;
}
