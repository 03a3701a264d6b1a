// SPDX-License-Identifier: MIT
/* One program in user mode that makes every system call. */
#include <linux/user.h>

int workload(void)
{
	return run_user_program("calls") != 42;
}
