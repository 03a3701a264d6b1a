// SPDX-License-Identifier: MIT
/*
 * The clock and the ticks. Each CPU has a timer interrupt when its Count reaches Compare.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/ring_buffer.h>

#include <asm/io.h>
#include <asm/timer.h>

/* A quarter of Count's range: the longest time between readings of the clock. */
#define CLOCK_PERIOD	0x40000000u

#define __entry		__section(".entry.text")

/*
 * The i8254 on the ISA bus. Its counter 0 counts down by two, 32768 times a period, as set up by
 * firmware, and by QEMU at reset. Its interrupt is masked.
 */
#define PIT_COUNTER_0	KSEG1ADDR(0x18000040)
#define PIT_CONTROL	KSEG1ADDR(0x18000043)
#define PIT_LATCH_0	0x00
#define PIT_START_0	0x36		/* low byte, high byte; mode 3: a square wave */
#define PIT_HZ		1193182

/* Steps of Count within a period of the i8254, 27 ms, if Count runs at more than 80 MHz. */
#define COUNTS_MOST	0x200000

u32 four_counts_ns;
u32 clock_high, clock_count[NR_CPUS];

/* Steps of Count between ticks; 0: no ticks, see idle_timer() */
static u32 tick_period[NR_CPUS];

/*
 * Program the next timer interrupt. A time already passed would wait for Count to wrap around. Then
 * the distance is increased, because single-stepping in a debugger may be slower than the tick.
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
 * CPU 0 reads the clock regularly, for all CPUs. The timers of the other CPUs are far ahead: with
 * -icount QEMU 7.2 hangs when a CPU does not serve its timer for two periods of Count (10.0 does
 * not), and a CPU waiting for its turn cannot serve it.
 */
static __always_inline void idle_timer(void)
{
	start_timer(CLOCK_PERIOD);
	if (NR_CPUS > 1 && current->cpu)
		write_c0_32(CP0_CAUSE, read_c0_32(CP0_CAUSE) | CAUSE_DC);
}

/* The i8254's counter, read while Count went from @before to @after. */
struct pit_reading {
	u32 before, after;
	u16 counter;
};

static struct pit_reading read_pit(void)
{
	struct pit_reading reading;

	reading.before = read_c0_32(CP0_COUNT);
	writeb(PIT_LATCH_0, PIT_CONTROL);
	reading.counter = readb(PIT_COUNTER_0);
	reading.counter |= readb(PIT_COUNTER_0) << 8;
	reading.after = read_c0_32(CP0_COUNT);
	return reading;
}

/*
 * Four steps of Count in nanoseconds. A step of Count is a multiple of a quarter of a nanosecond,
 * and an error of 2 per cent is small enough to identify it. Half a millisecond of the i8254 is
 * exact to 0.2 per cent. The host's delay between reading its counter and Count may be 1.6 per
 * cent; if it is longer, measure again.
 */
static u32 measure_four_counts(void)
{
	struct pit_reading first, last;
	u32 counts, doubt;
	u16 ticks;

	writeb(PIT_START_0, PIT_CONTROL);
	writeb(0, PIT_COUNTER_0);
	writeb(0, PIT_COUNTER_0);
	do {
		first = read_pit();
		do {
			last = read_pit();
			ticks = (u16)(first.counter - last.counter) / 2;
			counts = last.before - first.before;
			if (!ticks && counts > COUNTS_MOST)
				panic("the i8254 does not run");
		} while (ticks < PIT_HZ / 2000);
		doubt = first.after - first.before + last.after - last.before;
	} while (doubt > counts / 64 || counts > COUNTS_MOST);
	return ((u64)ticks * 4000000000u / PIT_HZ + counts / 2) / counts;
}

void arch_timer_init(void)
{
	four_counts_ns = measure_four_counts();
#if NR_CPUS > 1
	cps_init();
#endif
	idle_timer();
}

void arch_timer_start(u32 hz)
{
	u32 period = 4000000000u / four_counts_ns / hz;
	unsigned long flags;

	raw_local_irq_save(flags);
	tick_period[current->cpu] = period;
	write_c0_32(CP0_CAUSE, read_c0_32(CP0_CAUSE) & ~CAUSE_DC);
	start_timer(period);
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

/* The counter must not wrap around between two events. */
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
