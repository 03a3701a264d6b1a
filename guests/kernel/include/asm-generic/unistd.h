/* SPDX-License-Identifier: MIT */
#ifndef _ASM_GENERIC_UNISTD_H
#define _ASM_GENERIC_UNISTD_H

/* System call numbers, as in Linux for all new architectures. */
#define __NR_Linux		0
#define __NR_write		64
#define __NR_exit		93
#define __NR_futex		98
#define __NR_nanosleep		101
#define __NR_clock_gettime	113
#define __NR_sched_yield	124
#define __NR_getpid		172
#define __NR_gettid		178
#define __NR_mmap		222

#define NR_syscalls		(__NR_mmap + 1)

#endif
