// SPDX-License-Identifier: MIT
/* Threads on every CPU print lines that say how long they are. */
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/thread.h>

#define WORKERS	(2 * NR_CPUS + 1)
#define LINES	20

static const char text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

static int print_thread(void *argument)
{
	int i;

	for (i = 0; i < LINES; i++) {
		int length = (i * 7 + (long)argument) % 50;

		printk("worker %ld line %d length %d %.*s.\n", (long)argument, i, length, length,
		       text);
		if (i % 4 == 0)
			thread_yield();
	}
	return 0;
}

int workload(void)
{
	struct thread_info *thread[WORKERS];
	int i;

	for (i = 0; i < WORKERS; i++)
		thread[i] = kthread_run(print_thread, (void *)(long)i, "print");
	for (i = 0; i < WORKERS; i++)
		kthread_join(thread[i]);
	return 0;
}
