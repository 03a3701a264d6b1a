// SPDX-License-Identifier: MIT
#include "user.h"

long getpid(void)
{
	return user_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

long gettid(void)
{
	return user_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

long write(int fd, const void *data, unsigned long size)
{
	return user_syscall(__NR_write, fd, (long)data, size, 0, 0, 0);
}

long sched_yield(void)
{
	return user_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

long nanosleep(const struct timespec *request, struct timespec *remaining)
{
	return user_syscall(__NR_nanosleep, (long)request, (long)remaining, 0, 0, 0, 0);
}

long clock_gettime(int clock, struct timespec *time)
{
	return user_syscall(__NR_clock_gettime, clock, (long)time, 0, 0, 0, 0);
}

void exit(int status)
{
	for (;;)
		user_syscall(__NR_exit, status, 0, 0, 0, 0, 0);
}
