/* SPDX-License-Identifier: MIT */
/* current: the thread_info of the running thread, to which the base of gs points. */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

#include <asm/thread.h>

struct thread_info;

static inline __attribute__((always_inline)) struct thread_info *get_current(void)
{
	struct thread_info *thread;

	/* Not volatile: the value is constant within a thread, so the compiler may reuse it. */
	__asm__("movq %%gs:THREAD_CONTEXT, %0" : "=r"(thread));
	return thread;
}

#define current get_current()

#endif
