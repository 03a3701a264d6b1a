/* SPDX-License-Identifier: MIT */
#ifndef _ASM_ARCH_TIMER_H
#define _ASM_ARCH_TIMER_H

/* Registers of the generic timer: DDI 0406, B8. For the clock: asm/timer.h. */
#include <linux/compiler.h>
#include <linux/types.h>

/* CNTFRQ */
static __always_inline unsigned long timer_frequency(void)
{
	unsigned long frequency;

	__asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
	return frequency;
}

/* CNTPCT */
static __always_inline u64 physical_timer_count(void)
{
	u64 count;

	__asm__ volatile("isb\n\tmrrc p15, 0, %Q0, %R0, c14" : "=r"(count) : : "memory");
	return count;
}

/* CNTP_CVAL */
static __always_inline void physical_timer_set_deadline(u64 count)
{
	__asm__ volatile("mcrr p15, 2, %Q0, %R0, c14" : : "r"(count));
}

/* CNTP_CTL */
static __always_inline void physical_timer_set_control(unsigned long control)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c2, 1\n\tisb" : : "r"(control) : "memory");
}

/* CNTV_CVAL */
static __always_inline void virtual_timer_set_deadline(u64 count)
{
	__asm__ volatile("mcrr p15, 3, %Q0, %R0, c14" : : "r"(count));
}

/* CNTV_CTL */
static __always_inline void virtual_timer_set_control(unsigned long control)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" : : "r"(control));
}

#endif
