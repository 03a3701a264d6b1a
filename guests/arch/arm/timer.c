// SPDX-License-Identifier: MIT
/* The generic timer: the clock, and the tick, for which each CPU has its virtual timer. */
#include <asm/arch_timer.h>
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/sched.h>
#include <linux/threads.h>

#define NS_PER_SEC	1000000000u
#define TIMER_ENABLE	1	/* and IMASK clear */

struct timer_scale timer_scale;

/* The counts between two ticks, 0: stopped; and the count of the next tick. */
static u32 tick_period[NR_CPUS];
static u64 tick_deadline[NR_CPUS];

void arch_timer_init(void)
{
	u32 frequency = timer_frequency();

	if (!frequency || NS_PER_SEC % frequency)
		panic("the generic timer counts at %u Hz, and not in whole nanoseconds", frequency);
	timer_scale.ns_per_count = NS_PER_SEC / frequency;
	timer_scale.epoch = timer_read_count();
}

static void set_deadline(u64 count)
{
	tick_deadline[current->cpu] = count;
	virtual_timer_set_deadline(count);
}

void arch_timer_start(u32 hz)
{
	u32 period = timer_frequency() / hz;

	tick_period[current->cpu] = period ? period : 1;
	set_deadline(timer_read_count() + period);
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
	u64 now = timer_read_count();
	u32 period = tick_period[current->cpu];
	u64 deadline = tick_deadline[current->cpu];

	if (!period)
		return;
	deadline += period;
	if (deadline <= now)		/* late by more than a tick: those are lost */
		deadline = now + period;
	set_deadline(deadline);
	tick_interrupt();
}
