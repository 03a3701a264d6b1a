/* SPDX-License-Identifier: MIT */
/* The clock: the time register, one for all CPUs, at 10 MHz on QEMU's virt machine. */
#ifndef _ASM_TIMER_H
#define _ASM_TIMER_H

#include <linux/compiler.h>
#include <linux/types.h>

#define TIMER_HZ		10000000
#define TIMER_NS		(1000000000 / TIMER_HZ)

static __always_inline u64 timer_read_count(void)
{
	u64 count;

	__asm__ volatile("csrr %0, time" : "=r"(count) : : "memory");
	return count;
}

/** sched_clock() - the time since reset in nanoseconds; never runs backwards */
static __always_inline u64 sched_clock(void)
{
	return timer_read_count() * TIMER_NS;
}

/* The tick is due: programs the next one and calls tick_interrupt(). */
void timer_interrupt(void);

#endif
