// SPDX-License-Identifier: MIT
/* The tick: the timer of each CPU's local APIC, which starts again by itself. */
#include <asm/apic.h>
#include <asm/io.h>
#include <asm/timer.h>
#include <linux/arch.h>

void arch_timer_init(void)
{
	writel(HPET_ENABLE, HPET_CONFIG);
}

/* A stopped timer is masked and has an initial count of 0, that is, no deadline. */
void arch_timer_stop(void)
{
	writel(APIC_MASKED | VECTOR_TIMER, APIC_TIMER);
	writel(0, APIC_TIMER_INITIAL);
}

void arch_timer_start(u32 hz)
{
	u32 period = APIC_TIMER_HZ / hz;

	arch_timer_stop();
	writel(APIC_DIVIDE_BY_1, APIC_TIMER_DIVIDE);
	writel(APIC_PERIODIC | VECTOR_TIMER, APIC_TIMER);
	writel(period ? period : 1, APIC_TIMER_INITIAL);
}
