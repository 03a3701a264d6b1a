/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <asm/mipsregs.h>

/*
 * The clock is a 32-bit counter extended to 64 bits.
 *
 * One CPU: Count. Its period depends on the CPU and on QEMU, so it is measured at boot (timer.c).
 * It is a multiple of a quarter of a nanosecond: the clock advances every four steps, so that
 * rounding errors do not add up.
 *
 * Several CPUs: the shared counter in the interrupt controller (asm/cps.h), at 100 MHz in QEMU.
 * Each CPU's Count begins when the CPU is started, and the offset of two cannot be measured exactly
 * enough for a clock that is monotonic across CPUs.
 */
#if NR_CPUS == 1
#define read_counter()		(read_c0_32(CP0_COUNT) & ~3u)
#define counter_ns(steps)	((steps) / 4 * four_counts_ns)
#else
#include <asm/cps.h>
#define read_counter()		gic_read(GIC_SH_COUNTERLO)
#define counter_ns(steps)	((steps) * GIC_COUNT_NS)
#endif

/* Nanoseconds in four steps of Count; set by arch_timer_init(). */
extern u32 four_counts_ns;

/*
 * Bits 24 and up of the extended counter at the last reading of the clock, by any CPU. The clock
 * must be read at least every 2^32 ticks (25 s, 42 s), so CPU 0 reads it in its timer interrupt, at
 * least every 7 s (timer.c). It is wrong only if interrupts are masked there for so long without an
 * event on any CPU.
 */
extern u32 clock_high;

/* The counter when a CPU last read sched_clock(). */
extern u32 clock_count[NR_CPUS];

static __always_inline u32 sched_clock_count(void)
{
	return clock_count[NR_CPUS == 1 ? 0 : current->cpu];
}

static __always_inline u64 sched_clock(void)
{
	/* In this order: values read by others before are not later than the counter. */
	u32 then = READ_ONCE(clock_high), count = read_counter();
	u32 high = then + ((count - (then << 24)) >> 24);

	if (high != then)
		WRITE_ONCE(clock_high, high);
	clock_count[NR_CPUS == 1 ? 0 : current->cpu] = count;
	return counter_ns((u64)(high >> 8) << 32 | count);
}

/**
 * sched_clock_since - the time since @then, if short: faster than sched_clock()
 * @then:	the counter at some time
 * @count:	the counter now
 * @ns:		nanoseconds between the two
 *
 * A caller must not use a @then so old that the counter could have wrapped around: timer.c ensures
 * that for the ring buffer.
 *
 * Return: false if it takes sched_clock().
 */
static __always_inline bool sched_clock_since(u32 then, u32 *count, u32 *ns)
{
	*count = read_counter();
	*ns = counter_ns(*count - then);
	/* 50 or 84 ms, which fit an event's 27 bits; comparing a power of two needs no register. */
	return !((*count - then) >> 23);
}
#define sched_clock_since sched_clock_since

/**
 * timer_interrupt - acknowledge the timer and program its next interrupt
 *
 * Return: whether this is a tick, and not only for reading the clock.
 */
bool timer_interrupt(void);

/** timer_ticks - whether arch_timer_start() has been called for this CPU */
bool timer_ticks(void);

#endif
