/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_THREADS_H
#define _LINUX_THREADS_H

/* make SMP=n; a guest for one CPU has the same code, with shorter loops. */
#ifndef NR_CPUS
#define NR_CPUS 1
#endif

#define NR_THREADS	64
#define THREAD_SIZE	0x20000		/* bytes of a thread's stack and return stack */

/* For assembly: the offsets of flags, curr_ret_stack and stack_end in struct thread_info. */
#define THREAD_FLAGS		12
#define THREAD_CURR_RET_STACK	16
#define THREAD_STACK_END	(32 + 2 * __SIZEOF_LONG__)

/*
 * struct thread_info.flags. The lowest byte has the flags of the thread's events, so that they need
 * not be translated: trace.h checks it.
 */
#define _TIF_NEED_RESCHED	0x24		/* the next interrupt is to call schedule() */
#define TIF_SYSCALL_TRACEPOINT	8		/* system calls take the slow path */

#define _TIF_SYSCALL_TRACEPOINT	(1 << TIF_SYSCALL_TRACEPOINT)
#define _TIF_SYSCALL_WORK	_TIF_SYSCALL_TRACEPOINT

#endif
