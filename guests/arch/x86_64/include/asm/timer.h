/* SPDX-License-Identifier: MIT */
/* The clock: the HPET's counter, one for all CPUs. It has 64 bits and is read in two halves. */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

#include <linux/compiler.h>
#include <linux/types.h>

#define HPET			0xfed00000ul
#define HPET_CONFIG		(HPET + 0x10)
#define HPET_COUNTER		(HPET + 0xf0)
#define HPET_TIMER_CONFIG	(HPET + 0x100)
#define HPET_TIMER_COMPARATOR	(HPET + 0x108)
#define HPET_ENABLE		1
#define HPET_NS			10		/* QEMU's runs at 100 MHz */

/* Read one half of the counter, by one instruction with an absolute address. */
#define hpet_read(half)								\
({										\
	u64 __value;								\
	__asm__ volatile("addr32 movl %c1, %k0"					\
			 : "=r"(__value) : "i"((s32)(HPET_COUNTER + (half)))	\
			 : "memory");						\
	__value;								\
})

static __always_inline u64 timer_read_count(void)
{
	u64 high, low, again = hpet_read(4);

	do {
		high = again;
		low = hpet_read(0);
		again = hpet_read(4);
	} while (high != again);
	return high << 32 | low;
}

/** sched_clock() - the time since boot in nanoseconds; never runs backwards */
static __always_inline u64 sched_clock(void)
{
	return timer_read_count() * HPET_NS;
}

/**
 * sched_clock_once - sched_clock(), without the test for an overflow of the lower half
 *
 * If it overflows between the two reads, the result is 43 s too large: ring_buffer_write.h calls
 * sched_clock() if the time since the previous event seems to be that long.
 */
static __always_inline u64 sched_clock_once(void)
{
	u64 low = hpet_read(0);

	return (hpet_read(4) << 32 | low) * HPET_NS;
}
#define sched_clock_once sched_clock_once

#endif
