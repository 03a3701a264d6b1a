/* SPDX-License-Identifier: MIT */
/* current: the thread_info of the running thread, in tp. */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

struct thread_info;

static inline __attribute__((always_inline)) struct thread_info *get_current(void)
{
	struct thread_info *thread;

	/* Not volatile: the value is constant within a thread, so the compiler may reuse it. */
	__asm__("mv %0, tp" : "=r"(thread));
	return thread;
}

#define current get_current()

#endif
