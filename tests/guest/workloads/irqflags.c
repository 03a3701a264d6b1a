// SPDX-License-Identifier: MIT
/*
 * Interrupts are masked and opened: saved and restored one inside the other, then disabled and
 * enabled. They are open when everything begins and in between.
 */
#include <linux/irqflags.h>

#define traced __attribute__((noipa))

traced int inside(int value)
{
	return value + 1;
}

traced int sections(int value)
{
	unsigned long outer, inner;

	local_irq_save(outer);
	value = inside(value);
	local_irq_save(inner);
	value = inside(value);
	local_irq_restore(inner);
	value = inside(value);
	local_irq_restore(outer);
	value = inside(value);
	local_irq_disable();
	value = inside(value);
	local_irq_enable();
	return inside(value);
}

int workload(void)
{
	return sections(0) != 6;
}
