// SPDX-License-Identifier: MIT
/* The tick: each CPU's stimecmp (Sstc). The interrupt is pending while time >= stimecmp. */
#include <asm/csr.h>
#include <asm/timer.h>
#include <linux/arch.h>
#include <linux/irq.h>
#include <linux/sched.h>
#include <linux/threads.h>

/* The counts between two ticks, 0: stopped; and the count of the next tick. */
static u64 tick_period[NR_CPUS];
static u64 tick_deadline[NR_CPUS];

static void set_deadline(u64 count)
{
	tick_deadline[current->cpu] = count;
	__asm__ volatile("csrw %0, %1" : : "i"(CSR_STIMECMP), "r"(count));
}

/*
 * A stopped timer has a deadline in the past, and is masked. A deadline in the far future would be
 * a timer in QEMU, and with `-icount sleep=off` the clock jumps to the next timer while no CPU
 * runs, even at a breakpoint.
 */
static void stop(void)
{
	__asm__ volatile("csrc sie, %0" : : "r"(1ul << INT_TIMER));
	set_deadline(0);
}

void arch_timer_init(void)
{
	stop();
}

void arch_timer_start(u32 hz)
{
	u64 period = TIMER_HZ / hz;

	if (!period)
		period = 1;
	tick_period[current->cpu] = period;
	set_deadline(timer_read_count() + period);
	__asm__ volatile("csrs sie, %0" : : "r"(1ul << INT_TIMER));
}

void arch_timer_stop(void)
{
	tick_period[current->cpu] = 0;
	stop();
}

/* The next deadline is one period after this one, not after now: this keeps the rate exact. */
void timer_interrupt(void)
{
	u64 now = timer_read_count();
	u64 period = tick_period[current->cpu];
	u64 deadline = tick_deadline[current->cpu];

	if (!period) {
		stop();
		return;
	}
	deadline += period;
	if (deadline <= now)		/* late by more than a tick: those are lost */
		deadline = now + period;
	set_deadline(deadline);
	tick_interrupt();
}
