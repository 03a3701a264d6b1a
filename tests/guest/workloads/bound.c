// SPDX-License-Identifier: MIT
/* On each CPU a thread that calls one function, and writes as many events by itself. */
#include <stddef.h>

#include <linux/thread.h>
#include <linux/trace_events.h>

#define CALLS 500

__attribute__((noipa)) int bound_leaf(int value)
{
	return value + 1;
}

__attribute__((noipa)) int bound_middle(int value)
{
	return bound_leaf(bound_leaf(value));
}

static int bound(void *argument)
{
	int i, value = 0;

	for (i = 0; i < CALLS; i++) {
		value = bound_middle(value);
		trace_printk("turn %d", i);
	}
	return value;
}

int workload(void)
{
	struct thread_info *threads[NR_CPUS];
	int i, bad = 0;

	for (i = 0; i < NR_CPUS; i++)
		threads[i] = kthread_run_on(i, bound, NULL, "bound");
	for (i = 0; i < NR_CPUS; i++)
		bad |= kthread_join(threads[i]) != 2 * CALLS;
	return bad;
}
