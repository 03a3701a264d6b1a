/* SPDX-License-Identifier: MIT */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

/*
 * The clock: the generic timer's virtual count, shared by all CPUs. It runs from reset at the rate
 * in CNTFRQ_EL0: 62.5 MHz (16 ns a tick) on QEMU's virt machine, 1 GHz with `-cpu
 * ...,cntfrq=1000000000`.
 */
#include <linux/compiler.h>
#include <linux/types.h>

/* Nanoseconds in a tick, as a fraction of 32 bits; set by arch_timer_init(). */
extern u64 timer_ns_per_tick;

static __always_inline u64 timer_read_count(void)
{
	u64 count;

	/* Without the barrier a core may read the count ahead of earlier instructions. */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
	return count;
}

/**
 * sched_clock - the time since reset in nanoseconds
 *
 * Never runs backwards and, being a product of 128 bits, does not overflow before 64 bits of
 * nanoseconds do (584 years).
 */
static __always_inline u64 sched_clock(void)
{
	return (u64)(((unsigned __int128)timer_read_count() * timer_ns_per_tick) >> 32);
}

/* Handle the tick: program the next one and call tick_interrupt(). */
void timer_interrupt(void);

#endif
