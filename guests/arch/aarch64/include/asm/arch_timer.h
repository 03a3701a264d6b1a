/* SPDX-License-Identifier: MIT */
#ifndef _ASM_ARCH_TIMER_H
#define _ASM_ARCH_TIMER_H

/* Registers of the generic timer: Arm ARM, D11. For the clock: asm/timer.h. */
#include <linux/compiler.h>
#include <linux/types.h>

static __always_inline unsigned long timer_frequency(void)
{
	unsigned long frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}

static __always_inline u64 physical_timer_count(void)
{
	u64 count;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(count) : : "memory");
	return count;
}

static __always_inline void physical_timer_set_deadline(u64 count)
{
	__asm__ volatile("msr cntp_cval_el0, %0" : : "r"(count));
}

static __always_inline void physical_timer_set_control(unsigned long control)
{
	__asm__ volatile("msr cntp_ctl_el0, %0\n\tisb" : : "r"(control) : "memory");
}

static __always_inline void virtual_timer_set_deadline(u64 count)
{
	__asm__ volatile("msr cntv_cval_el0, %0" : : "r"(count));
}

static __always_inline void virtual_timer_set_control(unsigned long control)
{
	__asm__ volatile("msr cntv_ctl_el0, %0\n\tisb" : : "r"(control));
}

#endif
