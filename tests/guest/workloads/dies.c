// SPDX-License-Identifier: MIT
/* Ways for a thread to end the kernel; HOW says which: overflow, sleeping or panic. */
#include <linux/bug.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/thread.h>

#ifndef HOW
#define HOW		panic
#endif
#define CAT(a, b)	a##b
#define CALL(how)	CAT(die_by_, how)
/* Of the ways only one is called. */
#define way		static inline __attribute__((unused))

volatile unsigned int rounds;
static spinlock_t lock;

/* More than the thread's stack has, without a fault: what lies below it is another stack. */
static noinline int grow(int depth)
{
	volatile char room[2048];
	int below;

	for (below = 0; below < 2048; below++)
		room[below] = depth;
	below = depth ? grow(depth - 1) : 0;
	return below + room[0];
}

way int die_by_overflow(void)
{
	grow(THREAD_SIZE / 2048);
	thread_yield();
	return 0;
}

way int die_by_sleeping(void)
{
	spin_lock(&lock);
	msleep(1);
	return 0;
}

/* On the last CPU, while the others are busy. */
way int die_by_panic(void)
{
	while (rounds < 1000)
		cpu_relax();
	panic("CPU %u of %d", smp_processor_id(), NR_CPUS);
}

static int dying_thread(void *argument)
{
	return CALL(HOW)();
}

static int busy_thread(void *argument)
{
	for (;;)
		rounds++;
	return 0;
}

int workload(void)
{
	struct thread_info *thread;
	int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		kthread_run_on(cpu, busy_thread, NULL, "busy");
	thread = kthread_run_on(NR_CPUS - 1, dying_thread, NULL, "dying");
	return kthread_join(thread);
}
