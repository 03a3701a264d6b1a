/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <asm/mipsregs.h>

/*
 * The clock is a counter of 32 bits that is made wider.
 *
 * One CPU: Count. How long a step of it is depends on the CPU and on QEMU, so it is measured at boot
 * (timer.c). It may be quarters of a nanosecond: the clock moves every four steps, and the sum of
 * many short times is the long one.
 *
 * Several: the counter that they share, in the interrupt controller (asm/cps.h), which QEMU runs
 * at 100 MHz. Each CPU's Count begins when the CPU is started, and how far two are apart
 * cannot be found out exactly enough for a clock that never runs backwards from CPU to CPU.
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
 * Bits 24 and up of the wide counter, when any CPU last read the clock. A pause of about 2^32 ticks
 * (25 s, 42 s) between two readings would be taken for its remainder; so CPU 0 reads it in its timer
 * interrupt, which comes at least every 7 s (timer.c). What is left: interrupts that are masked there
 * for so long, with no event on any CPU.
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
	/* In this order: what others have read before is not in front of the counter. */
	u32 then = READ_ONCE(clock_high), count = read_counter();
	u32 high = then + ((count - (then << 24)) >> 24);

	if (high != then)
		WRITE_ONCE(clock_high, high);
	clock_count[NR_CPUS == 1 ? 0 : current->cpu] = count;
	return counter_ns((u64)(high >> 8) << 32 | count);
}

/**
 * sched_clock_since - what sched_clock() has gained, if it is little: in fewer instructions
 * @then:	the counter at some time
 * @count:	the counter now
 * @ns:		nanoseconds between the two
 *
 * Whoever keeps @then must be told when it is so old that the counter could have come round:
 * timer.c does that for the ring buffer.
 *
 * Return: false if it takes sched_clock().
 */
static __always_inline bool sched_clock_since(u32 then, u32 *count, u32 *ns)
{
	*count = read_counter();
	*ns = counter_ns(*count - then);
	/* 50 or 84 ms, which fit an event's 27 bits: a power of two takes no register to compare. */
	return !((*count - then) >> 23);
}
#define sched_clock_since sched_clock_since

/**
 * timer_interrupt - the timer's line is raised: lower it, and wait for the next time
 *
 * Return: whether this is a tick, and not only the clock that has to be read now and then.
 */
bool timer_interrupt(void);

/** timer_ticks - whether arch_timer_start() has been called for this CPU */
bool timer_ticks(void);

#endif
