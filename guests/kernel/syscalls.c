// SPDX-License-Identifier: MIT
/*
 * The system calls. Pointers outside of the user address space return -EFAULT.
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/syscalls.h>
#include <linux/thread.h>
#include <linux/user.h>

#include <asm/user.h>

#define NS_PER_SEC	1000000000ul
#define CLOCK_REALTIME	0
#define CLOCK_MONOTONIC	1
#define PAGE_SIZE	4096

struct timespec {
	long tv_sec;
	long tv_nsec;
};

static bool access_ok(const void *address, unsigned long size)
{
	unsigned long start = (unsigned long)address;

	return start >= USER_BASE && size <= USER_SIZE && start - USER_BASE <= USER_SIZE - size;
}

SYSCALL_DEFINE3(write, unsigned int, fd, const char *, buf, size_t, count)
{
	if (fd != 1 && fd != 2)
		return -EBADF;
	if (!access_ok(buf, count))
		return -EFAULT;
	console_write(buf, count);
	return count;
}

SYSCALL_DEFINE1(exit, int, error_code)
{
	user_exit(error_code & 0xff);
}

SYSCALL_DEFINE0(getpid)
{
	return current->pid;
}

SYSCALL_DEFINE0(gettid)
{
	return current->pid;
}

SYSCALL_DEFINE0(sched_yield)
{
	thread_yield();
	return 0;
}

/* No sleep is interrupted: the remaining time is always 0. */
SYSCALL_DEFINE2(nanosleep, const struct timespec *, rqtp, struct timespec *, rmtp)
{
	if (!access_ok(rqtp, sizeof(*rqtp)) || (rmtp && !access_ok(rmtp, sizeof(*rmtp))))
		return -EFAULT;
	if (rqtp->tv_sec < 0 || (unsigned long)rqtp->tv_nsec >= NS_PER_SEC)
		return -EINVAL;
	nsleep((u64)rqtp->tv_sec * NS_PER_SEC + rqtp->tv_nsec);
	if (rmtp)
		*rmtp = (struct timespec) { 0, 0 };
	return 0;
}

/* Both clocks begin at 0. */
SYSCALL_DEFINE2(clock_gettime, int, which_clock, struct timespec *, tp)
{
	u64 now;

	if (which_clock != CLOCK_REALTIME && which_clock != CLOCK_MONOTONIC)
		return -EINVAL;
	if (!access_ok(tp, sizeof(*tp)))
		return -EFAULT;
	now = local_clock();
	tp->tv_sec = now / NS_PER_SEC;
	tp->tv_nsec = now % NS_PER_SEC;
	return 0;
}

/* A system call that checks its six arguments. There is no memory to map. */
SYSCALL_DEFINE6(mmap, unsigned long, addr, unsigned long, len, unsigned long, prot,
		unsigned long, flags, unsigned long, fd, unsigned long, off)
{
	if (addr % PAGE_SIZE || !len || off % PAGE_SIZE)
		return -EINVAL;
	if ((int)fd != -1)
		return -EBADF;
	return -ENOMEM;
}

static long sys_ni_syscall(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
			   unsigned long e, unsigned long f)
{
	return -ENOSYS;
}

#define ENTRY(name)	[__NR_##name - __NR_Linux] = SYSCALL_NAME(name)

#pragma GCC diagnostic ignored "-Woverride-init"
const sys_call_ptr_t sys_call_table[NR_syscalls - __NR_Linux] = {
	[0 ... NR_syscalls - __NR_Linux - 1] = sys_ni_syscall,
	ENTRY(write),
	ENTRY(exit),
	ENTRY(getpid),
	ENTRY(gettid),
	ENTRY(sched_yield),
	ENTRY(nanosleep),
	ENTRY(clock_gettime),
	ENTRY(mmap),
};
