// SPDX-License-Identifier: MIT
/*
 * Something for every kind of event: three threads, of which each says who it is and calls a few
 * functions, and an interrupt-free section of a known kind.
 */
#include <stddef.h>

#include <linux/irqflags.h>
#include <linux/thread.h>
#include <linux/trace_events.h>

#define traced __attribute__((noipa))
#define ROUNDS 3

traced int leaf(int value)
{
	return value + 1;
}

traced int middle(int value)
{
	int result = leaf(value);

	return result + leaf(result);
}

traced int speak(int round)
{
	int length = trace_printk("round %d\n", round);

	return length + 1;
}

static int work(void *argument)
{
	int i, sum = 0;

	for (i = 0; i < ROUNDS; i++) {
		sum += middle(i);
		speak(i);
		thread_yield();
	}
	return sum;
}

int workload(void)
{
	struct thread_info *first = kthread_run(work, NULL, "first");
	struct thread_info *second = kthread_run(work, NULL, "second");
	int expected = work(NULL);
	int bad = kthread_join(first) != expected;

	bad |= kthread_join(second) != expected;
	return bad;
}
