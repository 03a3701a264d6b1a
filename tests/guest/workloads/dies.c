// SPDX-License-Identifier: MIT
/* Ways for a thread to end the kernel; HOW says which. */
#include <linux/bug.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/thread.h>

#define CAT(a, b)	a##b
#define CALL(how)	CAT(die_by_, how)

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

static inline int die_by_overflow(void)
{
	grow(THREAD_SIZE / 2048);
	thread_yield();
	return 0;
}

static inline int die_by_sleeping(void)
{
	spin_lock(&lock);
	msleep(1);
	return 0;
}

/* On the last CPU, while the others are busy. */
static inline int die_by_panic(void)
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
