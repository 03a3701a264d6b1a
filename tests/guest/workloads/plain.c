// SPDX-License-Identifier: MIT
/* One thread that calls a few functions, three times, and says so in the trace. */
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

int workload(void)
{
	int i, sum = 0;

	for (i = 0; i < ROUNDS; i++) {
		sum += middle(i);
		speak(i);
	}
	return sum != 15;
}
