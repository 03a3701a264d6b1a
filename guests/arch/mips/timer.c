// SPDX-License-Identifier: MIT
/*
 * The clock and the ticks. Each CPU has a timer interrupt when its Count comes to Compare.
 */
#include <linux/arch.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>

#include <asm/timer.h>

#define COUNT_HZ	(1000000000 / 6)	/* see asm/timer.h */

/* A quarter of the way round: the clock is read at least so often. */
#define CLOCK_PERIOD	0x40000000u

#define __entry		__section(".entry.text")

u32 clock_high, clock_count[NR_CPUS];

/* Count's ticks between two timer interrupts; 0: they are none of the kernel's, see idle_timer() */
static u32 tick_period[NR_CPUS];

/*
 * The timer's next interrupt. One that has gone by already would come after a whole round: then it is
 * further away each time, for a debugger steps more slowly than ticks follow each other.
 */
static __always_inline void set_compare(u32 next, u32 period)
{
	write_c0_32(CP0_COMPARE, next);
	while ((s32)(next - read_c0_32(CP0_COUNT)) <= 0) {
		if (period < CLOCK_PERIOD)
			period *= 2;
		next = read_c0_32(CP0_COUNT) + period;
		write_c0_32(CP0_COMPARE, next);
	}
}

static __always_inline void start_timer(u32 period)
{
	set_compare(read_c0_32(CP0_COUNT) + period, period);
}

/*
 * The clock has to be read now and then, and CPU 0 does that for all. The others' timers are at rest:
 * with -icount QEMU 7.2 hangs when a CPU leaves its timer alone for two whole rounds (10.0 does not),
 * and one that others keep from its turn can do nothing else.
 */
static __always_inline void idle_timer(void)
{
	start_timer(CLOCK_PERIOD);
	if (NR_CPUS > 1 && current->cpu)
		write_c0_32(CP0_CAUSE, read_c0_32(CP0_CAUSE) | CAUSE_DC);
}

void arch_timer_init(void)
{
#if NR_CPUS > 1
	cps_init();
#endif
	idle_timer();
}

void arch_timer_start(u32 hz)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	tick_period[current->cpu] = COUNT_HZ / hz;
	write_c0_32(CP0_CAUSE, read_c0_32(CP0_CAUSE) & ~CAUSE_DC);
	start_timer(COUNT_HZ / hz);
	raw_local_irq_restore(flags);
}

void arch_timer_stop(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	tick_period[current->cpu] = 0;
	idle_timer();
	raw_local_irq_restore(flags);
}

__entry bool timer_ticks(void)
{
	return tick_period[current->cpu];
}

/* An event after a long pause must not find that the counter has come round to where it was. */
static __always_inline void keep_pauses_long(u32 count)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		struct ring_buffer_per_cpu *buffer = &ring_buffer.cpu[cpu];

		if (count - READ_ONCE(buffer->last_count) > CLOCK_PERIOD)
			WRITE_ONCE(buffer->last_count, count - CLOCK_PERIOD);
	}
}

__entry bool timer_interrupt(void)
{
	u32 period = tick_period[current->cpu];

	sched_clock();
	keep_pauses_long(sched_clock_count());
#if NR_CPUS > 1
	gic_postpone_timers();
#endif
	if (period)
		set_compare(read_c0_32(CP0_COMPARE) + period, period);
	else
		idle_timer();
	return period;
}
