// SPDX-License-Identifier: MIT
/*
 * Every system call and its result. The program returns 42, or the number of the call with a wrong
 * result.
 */
#include <linux/errno.h>

#include "user.h"

#define CLOCK_MONOTONIC	1

static const char greeting[] = "calls: hello from user mode\n";

static long nanoseconds(const struct timespec *time)
{
	/* Seconds modulo 2: a long has only 32 bits with o32. */
	return (time->tv_sec & 1) * 1000000000 + time->tv_nsec;
}

USER_PROGRAM(calls)
{
	struct timespec before, after, pause = { .tv_nsec = 2000000 };
	long size = sizeof(greeting) - 1;

	if (getpid() <= 1 || gettid() != getpid())
		return 1;
	if (write(1, greeting, size) != size || write(2, greeting, 0) != 0)
		return 2;
	if (write(0, greeting, size) != -EBADF)
		return 3;
	if (write(1, (const void *)8, 1) != -EFAULT ||
	    write(1, greeting, -1ul) != -EFAULT)
		return 4;
	if (sched_yield())
		return 5;
	if (clock_gettime(CLOCK_MONOTONIC, &before) || nanosleep(&pause, NULL) ||
	    clock_gettime(CLOCK_MONOTONIC, &after))
		return 6;
	if (after.tv_sec < before.tv_sec || after.tv_nsec >= 1000000000 ||
	    (after.tv_sec == before.tv_sec &&
	     nanoseconds(&after) - nanoseconds(&before) < pause.tv_nsec))
		return 7;
	if (clock_gettime(77, &after) != -EINVAL || nanosleep(NULL, NULL) != -EFAULT)
		return 8;
	if (user_syscall(__NR_mmap, 0x10000, 0x2000, 3, 0x22, -1, 0) != -ENOMEM ||
	    user_syscall(__NR_mmap, 0x10001, 0x2000, 3, 0x22, -1, 0) != -EINVAL ||
	    user_syscall(__NR_mmap, 0x10000, 0x2000, 3, 0x22, 5, 0) != -EBADF)
		return 9;
	/* Inside the table, before it and after it. */
	if (user_syscall(__NR_Linux + 7, 1, 2, 3, 4, 5, 6) != -ENOSYS ||
	    user_syscall(__NR_Linux - 1, 0, 0, 0, 0, 0, 0) != -ENOSYS ||
	    user_syscall(NR_syscalls, 0, 0, 0, 0, 0, 0) != -ENOSYS ||
	    user_syscall(-1, 0, 0, 0, 0, 0, 0) != -ENOSYS)
		return 10;
	return 42;
}
