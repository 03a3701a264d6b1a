/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

/*
 * current: the thread_info of the running thread, in TPIDRPRW, a register for the kernel's own use
 * that user mode cannot access.
 */
#include <linux/compiler.h>

struct thread_info;

static __always_inline struct thread_info *get_current(void)
{
	struct thread_info *thread;

	/* Not volatile: the value is constant within a thread, so the compiler may reuse it. */
	__asm__("mrc p15, 0, %0, c13, c0, 4" : "=r"(thread));
	return thread;
}

#define current get_current()

#endif
