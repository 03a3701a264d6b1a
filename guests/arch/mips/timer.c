// SPDX-License-Identifier: MIT
/*
 * The clock and the ticks. Each CPU has a timer interrupt when its Count comes to Compare.
 */
#include <linux/arch.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>

#include <asm/timer.h>

#define COUNT_HZ	(1000000000 / 6)	/* QEMU 7.2: see asm/timer.h */

/* A quarter of the way round: the clock is read at least so often. */
#define CLOCK_PERIOD	0x40000000u

#define __entry		__section(".entry.text")

u64 clock_count[NR_CPUS];

/* Count's ticks between two timer interrupts; 0: CLOCK_PERIOD, and they are none of the kernel's */
static u32 tick_period[NR_CPUS];

/* The timer's next interrupt. One that has gone by already would come after a whole round. */
static __always_inline void set_compare(u32 next, u32 period)
{
	write_c0_32(CP0_COMPARE, next);
	while ((s32)(next - read_c0_32(CP0_COUNT)) <= 0) {
		next = read_c0_32(CP0_COUNT) + period;
		write_c0_32(CP0_COMPARE, next);
	}
}

static __always_inline void start_timer(u32 period)
{
	set_compare(read_c0_32(CP0_COUNT) + period, period);
}

void arch_timer_init(void)
{
#if NR_CPUS > 1
	if (current->cpu == 0)
		cps_init();
#endif
	/* arch_cpu_up() has given the other CPUs something to begin with. */
	sched_clock();
	start_timer(CLOCK_PERIOD);
}

void arch_timer_start(u32 hz)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	tick_period[current->cpu] = COUNT_HZ / hz;
	start_timer(COUNT_HZ / hz);
	raw_local_irq_restore(flags);
}

void arch_timer_stop(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	tick_period[current->cpu] = 0;
	start_timer(CLOCK_PERIOD);
	raw_local_irq_restore(flags);
}

__entry bool timer_ticks(void)
{
	return tick_period[current->cpu];
}

__entry bool timer_interrupt(void)
{
	u32 period = tick_period[current->cpu];

	sched_clock();
#if NR_CPUS > 1
	gic_postpone_timer();
#endif
	if (period) {
		set_compare(read_c0_32(CP0_COMPARE) + period, period);
		return true;
	}
	/* For the next event, which comes within another period, it was a long pause in any case. */
	current->ring_buffer->last_count = sched_clock_count() - CLOCK_PERIOD;
	start_timer(CLOCK_PERIOD);
	return false;
}
