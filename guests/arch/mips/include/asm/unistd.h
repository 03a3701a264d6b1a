/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNISTD_H
#define _ASM_UNISTD_H

/* System call numbers, as in Linux for the ABI. */
#if _MIPS_SIM == _ABI64
#define __NR_Linux		5000
#define __NR_write		(__NR_Linux + 1)
#define __NR_mmap		(__NR_Linux + 9)
#define __NR_sched_yield	(__NR_Linux + 23)
#define __NR_nanosleep		(__NR_Linux + 34)
#define __NR_getpid		(__NR_Linux + 38)
#define __NR_exit		(__NR_Linux + 58)
#define __NR_gettid		(__NR_Linux + 178)
#define __NR_futex		(__NR_Linux + 194)
#define __NR_clock_gettime	(__NR_Linux + 222)
#else
#define __NR_Linux		4000
#define __NR_exit		(__NR_Linux + 1)
#define __NR_write		(__NR_Linux + 4)
#define __NR_getpid		(__NR_Linux + 20)
#define __NR_mmap		(__NR_Linux + 90)
#define __NR_sched_yield	(__NR_Linux + 162)
#define __NR_nanosleep		(__NR_Linux + 166)
#define __NR_gettid		(__NR_Linux + 222)
#define __NR_futex		(__NR_Linux + 238)
#define __NR_clock_gettime	(__NR_Linux + 263)
#endif

#define NR_syscalls		(__NR_clock_gettime + 1)

#endif
