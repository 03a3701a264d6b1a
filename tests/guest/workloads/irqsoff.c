// SPDX-License-Identifier: MIT
/*
 * Two sections without interrupts: a short one, then one that lasts at least 100 ms.
 */
#include <linux/irqflags.h>
#include <linux/types.h>

#include <asm/timer.h>

#define traced __attribute__((noipa))
#define LONG 100000000

traced int inside(int value)
{
	return value + 1;
}

traced int short_section(int value)
{
	unsigned long flags;

	local_irq_save(flags);
	value = inside(value);
	local_irq_restore(flags);
	return value;
}

traced int long_section(int value)
{
	unsigned long flags;
	u64 start;
	int i;

	local_irq_save(flags);
	for (i = 0; i < 3; i++)
		value = inside(value);
	start = sched_clock();
	while (sched_clock() - start < LONG)
		;
	local_irq_restore(flags);
	return value;
}

int workload(void)
{
	return short_section(0) + long_section(1) != 5;
}
