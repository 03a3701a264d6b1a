// SPDX-License-Identifier: MIT
/*
 * recursion.c in several threads in turn, each with its own return stack. Returns 0, or 100 * the
 * number of a thread (from 1) plus its result.
 */
#define workload recursion
#include "recursion.c"
#undef workload

#include <linux/thread.h>

#define THREADS	4
#define TURNS	4

static int recursion_thread(void *argument)
{
	int status = 0;

	for (int i = 0; i < TURNS && !status; i++) {
		status = recursion();
		thread_yield();
	}
	return status;
}

int workload(void)
{
	struct thread_info *thread[THREADS];
	int failed = 0;

	for (int i = 0; i < THREADS; i++)
		thread[i] = kthread_run(recursion_thread, NULL, "recursion");
	for (int i = THREADS - 1; i >= 0; i--) {
		int status = kthread_join(thread[i]);

		if (status)
			failed = 100 * (i + 1) + status;
	}
	return failed;
}
