// SPDX-License-Identifier: MIT
/* The generic timer: the clock, and the tick, for which each CPU has its virtual timer. */
#include <asm/arch_timer.h>
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/sched.h>
#include <linux/threads.h>

#define TIMER_ENABLE	1	/* and IMASK clear */

struct timer_scale timer_scale;

/* Counts from one tick to the next; 0: stopped. */
static u64 tick_period[NR_CPUS];

void arch_timer_init(void)
{
	u64 frequency = timer_frequency();

	if (!frequency)
		panic("the generic timer has no frequency (CNTFRQ_EL0 is 0)");
	timer_scale.ns_per_tick = (1000000000ull << 32) / frequency;
	timer_scale.epoch = timer_read_count();
}

void arch_timer_start(u32 hz)
{
	u64 period = timer_frequency() / hz;

	tick_period[current->cpu] = period ? period : 1;
	virtual_timer_set_deadline(timer_read_count() + period);
	virtual_timer_set_control(TIMER_ENABLE);
}

void arch_timer_stop(void)
{
	virtual_timer_set_control(0);
	tick_period[current->cpu] = 0;
}

/* The next deadline is one period after this one, so that the rate is exact. */
void timer_interrupt(void)
{
	u64 deadline, now = timer_read_count();
	u64 period = tick_period[current->cpu];

	if (!period)
		return;
	__asm__ volatile("mrs %0, cntv_cval_el0" : "=r"(deadline));
	deadline += period;
	if (deadline <= now)		/* late by more than a tick: those are lost */
		deadline = now + period;
	virtual_timer_set_deadline(deadline);
	tick_interrupt();
}
