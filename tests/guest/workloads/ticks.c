// SPDX-License-Identifier: MIT
/* One thread that calls a function every millisecond, so that ticks come in between. */
#include <linux/sched.h>
#include <linux/types.h>

#include <asm/irqflags.h>
#include <asm/timer.h>

#define ROUNDS 20
#define ROUND_NS 1000000

static inline __attribute__((always_inline)) u64 now(void)
{
	unsigned long flags = arch_local_irq_save();
	u64 time = sched_clock();

	arch_local_irq_restore(flags);
	return time;
}

__attribute__((noipa)) int leaf(int value)
{
	return value + 1;
}

int workload(void)
{
	u64 start = now();
	int i, value = 0;

	for (i = 0; i < ROUNDS; i++) {
		value = leaf(value);
		while (now() - start < (u64)(i + 1) * ROUND_NS)
			;
	}
	return value != ROUNDS;
}
