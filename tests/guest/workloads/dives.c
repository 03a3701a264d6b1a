// SPDX-License-Identifier: MIT
/* A stack that is deepest in one known function, and a second thread with a deeper one. */
#include <stddef.h>

#include <linux/irqflags.h>
#include <linux/thread.h>

#define DEPTH	20

int bottom(char *text);
int dive(int depth);
int plunge(void *argument);

__attribute__((noipa)) int bottom(char *text)
{
	char own[100];

	/* A frame of its own, also in a leaf. */
	__asm__ volatile("" : : "r"(own), "r"(text) : "memory");
	return 1;
}

__attribute__((noipa)) int dive(int depth)
{
	char text[200];
	int below = depth ? dive(depth - 1) : bottom(text);

	/* No tail call. */
	__asm__ volatile("" : : "r"(text) : "memory");
	return below + 1;
}

__attribute__((noipa)) int plunge(void *argument)
{
	char text[20000];
	int found = bottom(text);

	__asm__ volatile("" : : "r"(text) : "memory");
	return found;
}

/* While workload() waits for the CPU there are ticks, and their stack would be the deepest. */
static int plunge_thread(void *argument)
{
	unsigned long flags;
	int found;

	local_irq_save(flags);
	found = plunge(argument);
	local_irq_restore(flags);
	return found;
}

int workload(void)
{
	struct thread_info *thread;

	if (dive(DEPTH - 1) != DEPTH + 1)
		return 1;
	thread = kthread_run(plunge_thread, NULL, "plunge");
	return kthread_join(thread) != 1;
}
