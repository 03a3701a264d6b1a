/* SPDX-License-Identifier: MIT */
#ifndef _USER_H
#define _USER_H

/*
 * The interface of programs in user mode: system calls. Functions they call must be in this
 * directory or in arch/<arch>/user/.
 */
#include <linux/types.h>

#include <asm/unistd.h>

struct timespec {
	long tv_sec;
	long tv_nsec;
};

/** user_syscall - make a system call; returns its result or a negative error number */
long user_syscall(long number, long a, long b, long c, long d, long e, long f);

long getpid(void);
long gettid(void);
long write(int fd, const void *data, unsigned long size);
long sched_yield(void);
long nanosleep(const struct timespec *request, struct timespec *remaining);
long clock_gettime(int clock, struct timespec *time);
void exit(int status) __attribute__((noreturn));

/**
 * USER_PROGRAM - a program: USER_PROGRAM(name) { ... return status; }
 *
 * Defines the function, its entry point, and its entry in the kernel's table of programs.
 */
#define USER_PROGRAM(program)						\
	static int program##_main(void);				\
	static void program##_entry(void)				\
	{								\
		exit(program##_main());					\
	}								\
	static const struct {						\
		char name[16];						\
		void (*entry)(void);					\
	} program##_note						\
	__attribute__((used, aligned(sizeof(long)), section("user_programs"))) = { \
		#program, program##_entry				\
	};								\
	static int program##_main(void)

#endif
