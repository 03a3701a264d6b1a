/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_USER_H
#define _LINUX_USER_H

/*
 * Programs in user mode. All of guests/user/ is linked at USER_BASE and always mapped; a program is
 * one of its functions. Each runs in its own thread, which has the name of the program.
 */
#include <linux/compiler.h>

#define USER_PROGRAMS	4		/* that can run at the same time */
#define USER_STACK_SIZE	0x2000

struct thread_info;

#define USER_KILLED	(-1)

/**
 * user_program_start - run a program in a new thread
 * @name:	its name in USER_PROGRAM(name)
 *
 * Panics if there is no such program, or if too many are running. kthread_join() waits for it and
 * returns its exit status, 0 to 255, or USER_KILLED if an exception killed it.
 */
struct thread_info *user_program_start(const char *name);

/** run_user_program - run a program and wait for it */
int run_user_program(const char *name);

/** user_exit - end the current thread's program */
void user_exit(int status) __noreturn;

/* The entry of a program in the kernel's memory, defined by USER_PROGRAM(). */
struct user_program {
	char name[16];
	void (*entry)(void);
};

extern const struct user_program __start_user_programs[], __stop_user_programs[];

#endif
