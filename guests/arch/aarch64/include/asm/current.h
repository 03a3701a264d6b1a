/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

/*
 * current: the thread_info of the running thread, in sp_el0. At EL1 sp_el0 has no other use, is
 * preserved across exceptions, and is read by one mrs.
 */
#include <linux/compiler.h>

struct thread_info;

static __always_inline struct thread_info *get_current(void)
{
	struct thread_info *thread;

	/* Not volatile: the value is constant within a thread, so the compiler may reuse it. */
	__asm__("mrs %0, sp_el0" : "=r"(thread));
	return thread;
}

static __always_inline void set_current(struct thread_info *thread)
{
	__asm__ volatile("msr sp_el0, %0" : : "r"(thread) : "memory");
}

#define current get_current()

#endif
