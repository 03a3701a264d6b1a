// SPDX-License-Identifier: MIT
/*
 * Programs in user mode: their exit status, several at a time, and that faults kill only the
 * program. Returns 0, or the number of the part that failed.
 */
#include <linux/compiler.h>
#include <linux/thread.h>
#include <linux/user.h>

/* 1 to 10: the system call with a wrong result, see guests/user/calls.c. */
static noinline int calls(void)
{
	return run_user_program("calls") == 42;
}

static noinline int several(void)
{
	struct thread_info *compute = user_program_start("compute");
	struct thread_info *yielding = user_program_start("yielding");
	struct thread_info *another = user_program_start("compute");

	return kthread_join(compute) == 7 && kthread_join(yielding) == 8 &&
	       kthread_join(another) == 7;
}

static noinline int faults(void)
{
	return run_user_program("null_store") == USER_KILLED &&
	       run_user_program("kernel_load") == USER_KILLED &&
	       run_user_program("kernel_store") == USER_KILLED &&
	       run_user_program("kernel_jump") == USER_KILLED &&
	       run_user_program("bad_instruction") == USER_KILLED;
}

int workload(void)
{
	if (!calls())
		return 1;
	if (!several())
		return 2;
	if (!faults())
		return 3;
	/* After all that, as before. */
	if (!calls())
		return 4;
	return 0;
}
