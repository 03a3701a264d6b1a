/* SPDX-License-Identifier: MIT */
/* current: the thread_info of the running thread, to which the base of gs points. */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

#include <asm/thread.h>

struct thread_info;

static inline __attribute__((always_inline)) struct thread_info *get_current(void)
{
	struct thread_info *thread;

	/* Not volatile: a thread never sees another's value. */
	__asm__("movq %%gs:THREAD_CONTEXT, %0" : "=r"(thread));
	return thread;
}

#define current get_current()

#endif
