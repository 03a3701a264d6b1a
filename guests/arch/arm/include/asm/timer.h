/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

/*
 * The clock: the generic timer's virtual count, shared by all CPUs. It runs from reset at the rate
 * in CNTFRQ: 62.5 MHz on QEMU's virt machine, 1 GHz with `-cpu ...,cntfrq=1000000000`. Of both a
 * count is a whole number of nanoseconds. Under -icount it begins at a value of the host's time,
 * tens of microseconds; the rest of a run is exact. Time is counted from boot, so that two runs
 * have the same stamps.
 */
#include <linux/compiler.h>
#include <linux/types.h>

/* What makes nanoseconds of the count; set by arch_timer_init(). */
struct timer_scale {
	u64 epoch;		/* the count at boot */
	u32 ns_per_count;
};
extern struct timer_scale timer_scale;

static __always_inline u64 timer_read_count(void)
{
	u64 count;

	/* Without the barrier a core may read the count ahead of earlier instructions. */
	__asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14" : "=r"(count) : : "memory");
	return count;
}

/** sched_clock - the time since boot in nanoseconds; never runs backwards */
static __always_inline u64 sched_clock(void)
{
	return (timer_read_count() - timer_scale.epoch) * timer_scale.ns_per_count;
}

/* Handle the tick: program the next one and call tick_interrupt(). */
void timer_interrupt(void);

#endif
