// SPDX-License-Identifier: MIT
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/bug.h>

u64 timer_ns_per_tick;

void arch_timer_init(void)
{
	u64 frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	if (!frequency)
		panic("the generic timer has no frequency (CNTFRQ_EL0 is 0)");
	timer_ns_per_tick = (1000000000ull << 32) / frequency;
}
