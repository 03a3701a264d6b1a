/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_USER_H
#define _LINUX_USER_H

/*
 * Programs in user mode. All of guests/user/ is linked at USER_BASE and lies there all the time; a
 * program is a function of it. Each runs in a thread of its own, which is called like the program.
 */
#include <linux/compiler.h>

#define USER_PROGRAMS	4		/* that can run at the same time */
#define USER_STACK_SIZE	0x2000

struct thread_info;

#define USER_KILLED	(-1)

/**
 * user_program_start - run a program in a new thread
 * @name:	what it calls itself: USER_PROGRAM(name)
 *
 * Panics if there is no such program or too many run already. kthread_join() waits for it, and
 * returns what it gave to exit(), 0 to 255, or USER_KILLED if it did what it must not.
 */
struct thread_info *user_program_start(const char *name);

/** run_user_program - both of them: run it and wait for it */
int run_user_program(const char *name);

/** user_exit - the current thread's program has ended */
void user_exit(int status) __noreturn;

/* What USER_PROGRAM() leaves in the kernel's memory. */
struct user_program {
	char name[16];
	void (*entry)(void);
};

extern const struct user_program __start_user_programs[], __stop_user_programs[];

#endif
