/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_THREADS_H
#define _LINUX_THREADS_H

#ifndef NR_CPUS
#define NR_CPUS 1
#endif

/* For assembler files: where struct thread_info has curr_ret_stack. */
#define THREAD_CURR_RET_STACK 16

#endif
