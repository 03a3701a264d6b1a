// SPDX-License-Identifier: MIT
/*
 * Creation, synchronisation and end of threads.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/thread.h>

#include <asm/timer.h>

#include "sched.h"

extern char __thread_stacks[NR_THREADS][THREAD_SIZE];
extern char __boot_stack_end[];

struct thread_info threads[NR_THREADS];
extern struct thread_info init_thread __attribute__((alias("threads")));

_Static_assert(offsetof(struct thread_info, flags) == THREAD_FLAGS, "threads.h");
_Static_assert(offsetof(struct thread_info, curr_ret_stack) == THREAD_CURR_RET_STACK, "threads.h");
_Static_assert(offsetof(struct thread_info, stack_end) == THREAD_STACK_END, "threads.h");

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define RET_STACK_SIZE	ALIGN(FTRACE_RETFUNC_DEPTH * sizeof(struct ftrace_ret_stack), 16)
#else
#define RET_STACK_SIZE	0
#endif

/* The offset of @thread in struct thread_info, as a symbol for assembly. */
static void __used notrace define_offsets(void)
{
	__asm__ volatile(".globl THREAD_CONTEXT\n\t.set THREAD_CONTEXT, %c0"
			 : : "i"(offsetof(struct thread_info, thread)));
}

static s32 last_pid = 1;		/* the workload's */

/*
 * The entry of a new thread, with the scheduler's lock held. Not traced, because it never returns:
 * for the graph tracer @function is the outermost function.
 */
notrace void thread_entry(void);
notrace void thread_entry(void)
{
	raw_spin_unlock(&sched_spinlock);
	local_irq_enable();
	thread_exit(current->function(current->argument));
}

/* The entry that has been free for the longest time, to preserve names of ended threads. */
static struct thread_info *find_free(void)
{
	static unsigned int last;
	unsigned int i;

	for (i = 1; i <= NR_THREADS; i++) {
		struct thread_info *thread = &threads[(last + i) % NR_THREADS];

		if (thread->state == TASK_FREE) {
			last = thread - threads;
			return thread;
		}
	}
	panic("more than %d threads", NR_THREADS);
}

/* With the scheduler's lock held. */
static struct thread_info *create(s32 bound_cpu, s32 pid, int (*function)(void *), void *argument,
				  const char *name)
{
	struct thread_info *thread = find_free();
	char *stack = __thread_stacks[thread - threads];
	char *stack_end = stack + THREAD_SIZE - RET_STACK_SIZE;
	unsigned int cpu = bound_cpu < 0 ? smp_processor_id() : (unsigned int)bound_cpu;

	memset(thread, 0, sizeof(*thread));
	thread->cpu = cpu;
	thread->bound_cpu = bound_cpu;
	thread->ring_buffer = &ring_buffer.cpu[cpu];
	thread->pid = pid;
	strncpy(thread->comm, name, sizeof(thread->comm) - 1);
	thread->curr_ret_stack = -1;
	thread->ret_stack = RET_STACK_SIZE ? (void *)stack_end : NULL;
	thread->stack = stack;
	thread->stack_end = stack_end;
	thread->function = function;
	thread->argument = argument;
	*(unsigned long *)stack = STACK_END_MAGIC;
	ftrace_init_thread(thread);
	arch_thread_init(thread, stack_end, thread_entry);
	return thread;
}

static struct thread_info *create_and_start(s32 bound_cpu, int (*function)(void *), void *argument,
					    const char *name)
{
	unsigned long flags = sched_lock();
	struct thread_info *thread;

	thread = create(bound_cpu, ++last_pid, function, argument, name);
	sched_start(thread);
	sched_unlock(flags);
	return thread;
}

struct thread_info *kthread_run(int (*function)(void *), void *argument, const char *name)
{
	return create_and_start(-1, function, argument, name);
}

struct thread_info *kthread_run_on(unsigned int cpu, int (*function)(void *), void *argument,
				   const char *name)
{
	BUG_ON(cpu >= NR_CPUS || !cpu_info[cpu].online);
	return create_and_start(cpu, function, argument, name);
}

void thread_exit(int status)
{
	struct thread_info *thread = current;

	sched_lock();
	thread->exit_status = status;
	sched_wake(&thread->joiners);
	sched_leave();
}

int kthread_join(struct thread_info *thread)
{
	unsigned long flags = sched_lock();
	int status;

	BUG_ON(thread->state == TASK_FREE);
	while (thread->state != EXIT_ZOMBIE)
		sched_wait(&thread->joiners);
	status = thread->exit_status;
	thread->state = TASK_FREE;
	sched_unlock(flags);
	return status;
}

void thread_yield(void)
{
	schedule();
}

u64 local_clock(void)
{
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	now = sched_clock();
	local_irq_restore(flags);
	return now;
}

void msleep(unsigned int ms)
{
	nsleep(ms * 1000000ull);
}

void mutex_lock(struct mutex *mutex)
{
	unsigned long flags = sched_lock();

	while (mutex->owner)
		sched_wait(&mutex->waiters);
	mutex->owner = current;
	sched_unlock(flags);
}

void mutex_unlock(struct mutex *mutex)
{
	unsigned long flags = sched_lock();

	BUG_ON(mutex->owner != current);
	mutex->owner = NULL;
	sched_wake(&mutex->waiters);
	sched_unlock(flags);
}

void complete(struct completion *completion)
{
	unsigned long flags = sched_lock();

	completion->done++;
	sched_wake(&completion->waiters);
	sched_unlock(flags);
}

void wait_for_completion(struct completion *completion)
{
	unsigned long flags = sched_lock();

	while (!completion->done)
		sched_wait(&completion->waiters);
	completion->done--;
	sched_unlock(flags);
}

static int idle_function(void *argument)
{
	local_irq_enable();
	cpu_idle();
}

struct thread_info *idle_create(unsigned int cpu)
{
	struct thread_info *thread = create(cpu, 0, idle_function, NULL, "swapper/");
	char *number = thread->comm + strlen(thread->comm);

	if (cpu >= 10)
		*number++ = '0' + cpu / 10;
	*number = '0' + cpu % 10;
	thread->state = TASK_RUNNING;
	cpu_info[cpu].idle = thread;
	return thread;
}

void sched_init(void)
{
	struct thread_info *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		thread->state = TASK_FREE;
	init_thread.state = TASK_RUNNING;
	init_thread.bound_cpu = -1;
	init_thread.curr_ret_stack = -1;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	init_thread.ret_stack = init_ret_stack;
#endif
	init_thread.ring_buffer = &ring_buffer.cpu[0];
	init_thread.stack_end = __boot_stack_end;
	strcpy(init_thread.comm, "swapper");
	idle_create(0);
	cpu_info[0].running = &init_thread;
	cpu_info[0].online = 1;
}
