// SPDX-License-Identifier: MIT
/* The generic timer: the clock, and the tick, for which each CPU has its virtual timer. */
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

static u64 timer_frequency(void)
{
	u64 frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}

void arch_timer_init(void)
{
	u64 frequency = timer_frequency();

	if (!frequency)
		panic("the generic timer has no frequency (CNTFRQ_EL0 is 0)");
	timer_scale.ns_per_tick = (1000000000ull << 32) / frequency;
	timer_scale.epoch = timer_read_count();
}

static void set_deadline(u64 count)
{
	__asm__ volatile("msr cntv_cval_el0, %0" : : "r"(count));
}

static void set_control(u64 control)
{
	__asm__ volatile("msr cntv_ctl_el0, %0\n\tisb" : : "r"(control));
}

void arch_timer_start(u32 hz)
{
	u64 period = timer_frequency() / hz;

	tick_period[current->cpu] = period ? period : 1;
	set_deadline(timer_read_count() + period);
	set_control(TIMER_ENABLE);
}

void arch_timer_stop(void)
{
	set_control(0);
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
	set_deadline(deadline);
	tick_interrupt();
}
