/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/mipsregs.h>

/*
 * QEMU's Malta runs the CPU at 320 MHz and Count at half of that. QEMU 7.2 keeps the period of
 * Count in whole nanoseconds: 6, not 6.25.
 */
#define COUNT_NS	6

/**
 * struct count_clock - Count made 64 bits wide
 * @ns:		nanoseconds up to @count
 * @count:	Count when the clock was last read
 *
 * A pause of more than 2^32 ticks (25 s) between two readings is seen as its remainder: the clock
 * loses time then, but never runs backwards.
 */
struct count_clock {
	u64 ns;
	u32 count;
};

extern struct count_clock count_clock;

static __always_inline u64 sched_clock(void)
{
	u32 count = read_c0_32(CP0_COUNT);

	count_clock.ns += (u64)(count - count_clock.count) * COUNT_NS;
	count_clock.count = count;
	return count_clock.ns;
}

/* Count when sched_clock() was last read. */
static __always_inline u32 sched_clock_count(void)
{
	return count_clock.count;
}

/**
 * sched_clock_since - what sched_clock() has gained, if it is little: in fewer instructions
 * @then:	Count at some time
 * @count:	Count now
 * @ns:		nanoseconds between the two
 *
 * sched_clock() itself has to be read again before Count comes round, so this serves only gaps
 * below 2^26 ns: a page of the ring buffer has no room for so many that 2^32 ticks could go by.
 *
 * Return: false if it takes sched_clock().
 */
static __always_inline bool sched_clock_since(u32 then, u32 *count, u32 *ns)
{
	*count = read_c0_32(CP0_COUNT);
	*ns = (*count - then) * COUNT_NS;
	return *count - then < (1u << 26) / COUNT_NS;
}
#define sched_clock_since sched_clock_since

#endif
