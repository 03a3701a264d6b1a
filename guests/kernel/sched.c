// SPDX-License-Identifier: MIT
/*
 * The scheduler: one run queue for all CPUs, round robin. A waiting thread is in exactly one list,
 * the run queue or another.
 *
 * The lock is held across __switch_to(), so no CPU takes a thread whose registers are not saved
 * yet. The new thread releases the lock.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/thread.h>

#include <asm/timer.h>

#include "sched.h"

u32 tick_hz __section(".data");		/* not in .bss, which head.S clears */

spinlock_t sched_spinlock;
static struct thread_list run_queue;
static struct thread_list sleepers;

static void list_append(struct thread_list *list, struct thread_info *thread)
{
	thread->next = NULL;
	if (list->first)
		list->last->next = thread;
	else
		list->first = thread;
	list->last = thread;
}

static void list_remove(struct thread_list *list, struct thread_info *thread)
{
	struct thread_info *before = NULL, *at;

	for (at = list->first; at != thread; at = at->next)
		before = at;
	if (before)
		before->next = thread->next;
	else
		list->first = thread->next;
	if (list->last == thread)
		list->last = before;
}

static bool may_run_on(const struct thread_info *thread, unsigned int cpu)
{
	return thread->bound_cpu < 0 || thread->bound_cpu == (int)cpu;
}

static struct thread_info *first_waiting(unsigned int cpu)
{
	struct thread_info *thread = run_queue.first;

	while (thread && !may_run_on(thread, cpu))
		thread = thread->next;
	return thread;
}

static bool is_idle(unsigned int cpu)
{
	const struct cpu_info *info = &cpu_info[cpu];

	return info->online && info->running == info->idle && !(info->requests & CPU_RESCHEDULE);
}

/* The CPU that should run a queued thread: an idle one, or this one. */
static unsigned int place_for(const struct thread_info *thread)
{
	unsigned int this = smp_processor_id(), cpu;

	if (thread->bound_cpu >= 0)
		return thread->bound_cpu;
	if (is_idle(this))
		return this;
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (is_idle(cpu))
			return cpu;
	return this;
}

static void set_need_resched(void)
{
	__atomic_fetch_or(&current->flags, _TIF_NEED_RESCHED, __ATOMIC_RELAXED);
}

/* A thread waits for this CPU, or a thread sleeps. */
static bool ticks_needed(unsigned int cpu)
{
	const struct thread_info *waiting = first_waiting(cpu);

	return sleepers.first || (waiting && place_for(waiting) == cpu);
}

void sched_tick(void)
{
	struct cpu_info *cpu = &cpu_info[smp_processor_id()];
	u32 hz = READ_ONCE(tick_hz);

	if (!hz && ticks_needed(smp_processor_id()))
		hz = TICK_HZ;
	if (hz == cpu->tick_hz)
		return;
	cpu->tick_hz = hz;
	if (hz)
		arch_timer_start(hz);
	else
		arch_timer_stop();
}

/*
 * A thread was queued: interrupt an idle CPU, or the one that it is bound to, unless that has
 * ticks.
 */
static noinline void find_cpu(const struct thread_info *thread)
{
	unsigned int cpu = place_for(thread);

	if (cpu != smp_processor_id()) {
		if (is_idle(cpu) || !cpu_info[cpu].tick_hz)
			smp_request(cpu, CPU_RESCHEDULE);
	} else if (is_idle(cpu)) {
		set_need_resched();
	} else {
		sched_tick();
	}
}

void sched_start(struct thread_info *thread)
{
	thread->state = TASK_RUNNING;
	list_append(&run_queue, thread);
	find_cpu(thread);
}

static struct thread_info *pick_next(unsigned int cpu)
{
	struct thread_info *thread = first_waiting(cpu);

	if (!thread)
		return cpu_info[cpu].idle;
	list_remove(&run_queue, thread);
	return thread;
}

static void check_current(const struct thread_info *thread)
{
	if (thread->preempt_count)
		panic("schedule: thread %d (%s) must not be preempted: preempt_count %#x",
		      thread->pid, thread->comm, thread->preempt_count);
	if (thread->stack && *(unsigned long *)thread->stack != STACK_END_MAGIC)
		panic("stack overflow in thread %d (%s)", thread->pid, thread->comm);
}

/* With the lock held. The thread is in no list, unless it waits. */
static void switch_thread(bool preempt)
{
	struct thread_info *prev = current, *next;
	struct cpu_info *cpu = &cpu_info[smp_processor_id()];

	check_current(prev);
	__atomic_fetch_and(&prev->flags, ~_TIF_NEED_RESCHED, __ATOMIC_RELAXED);
	if (prev->state == TASK_RUNNING && prev != cpu->idle)
		list_append(&run_queue, prev);
	next = pick_next(prev->cpu);
	if (next != prev) {
		trace_sched_switch(preempt, prev, next);
		next->cpu = prev->cpu;
		next->ring_buffer = prev->ring_buffer;
		cpu->running = next;
	}
	if (run_queue.first)
		find_cpu(run_queue.first);
	sched_tick();
	if (next != prev)
		__switch_to(prev, next);
}

bool sched_is_running(const struct thread_info *thread)
{
	return thread == current || cpu_info[thread->cpu].running == thread;
}

void schedule(void)
{
	unsigned long flags = sched_lock();

	switch_thread(false);
	sched_unlock(flags);
}

void preempt_schedule(void)
{
	unsigned long flags;

	if (preempt_count() || irqs_disabled())
		return;
	flags = sched_lock();
	switch_thread(true);
	sched_unlock(flags);
}

void preempt_schedule_irq(void)
{
	raw_spin_lock(&sched_spinlock);
	switch_thread(true);
	raw_spin_unlock(&sched_spinlock);
}

void cond_resched(void)
{
	if (READ_ONCE(current->flags) & _TIF_NEED_RESCHED)
		preempt_schedule();
}

void sched_wait(struct thread_list *list)
{
	current->state = TASK_UNINTERRUPTIBLE;
	list_append(list, current);
	switch_thread(false);
}

void sched_wake(struct thread_list *list)
{
	struct thread_info *thread = list->first;

	if (!thread)
		return;
	list_remove(list, thread);
	sched_start(thread);
}

void sched_leave(void)
{
	current->state = EXIT_ZOMBIE;
	switch_thread(false);
	panic("a thread that has ended runs again");
}

void nsleep(u64 ns)
{
	unsigned long flags = sched_lock();
	struct thread_info *thread = current;

	thread->wake_time = sched_clock() + ns;
	thread->state = TASK_INTERRUPTIBLE;
	list_append(&sleepers, thread);
	switch_thread(false);
	sched_unlock(flags);
}

static void wake_sleepers(u64 now)
{
	struct thread_info *thread, *next;

	for (thread = sleepers.first; thread; thread = next) {
		next = thread->next;
		if (thread->wake_time <= now) {
			list_remove(&sleepers, thread);
			sched_start(thread);
		}
	}
}

void tick_interrupt(void)
{
	raw_spin_lock(&sched_spinlock);
	wake_sleepers(sched_clock());
	if (first_waiting(smp_processor_id()))
		set_need_resched();
	sched_tick();
	raw_spin_unlock(&sched_spinlock);
}

void sched_requested(void)
{
	raw_spin_lock(&sched_spinlock);
	if (is_idle(smp_processor_id()))
		set_need_resched();
	sched_tick();
	raw_spin_unlock(&sched_spinlock);
}

/* The boot thread is ready for interrupts. */
void sched_boot(void)
{
	raw_spin_lock(&sched_spinlock);
	sched_tick();
	raw_spin_unlock(&sched_spinlock);
	local_irq_enable();
}

/*
 * The idle thread is preempted by the interrupt that comes with a woken thread. Not traced, because
 * it never returns.
 */
notrace void cpu_idle(void)
{
	for (;;)
		arch_idle();
}
