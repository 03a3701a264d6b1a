/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/compiler.h>
#include <linux/threads.h>
#include <linux/types.h>

#if __has_include(<asm/thread.h>)
#include <asm/thread.h>
#else
struct thread_struct {
	unsigned long sp;
	unsigned long pc;
};
#endif

struct ftrace_ret_stack;
struct ring_buffer_per_cpu;

/* struct thread_info.state: the values of Linux, shown in sched_switch events. */
#define TASK_RUNNING		0	/* runs, or waits for a CPU */
#define TASK_INTERRUPTIBLE	1	/* sleeps for some time */
#define TASK_UNINTERRUPTIBLE	2	/* waits for another thread */
#define EXIT_ZOMBIE		32	/* has ended, not yet joined */
#define TASK_FREE		0x1000	/* no thread */

/* Threads that wait for the same thing, a FIFO. */
struct thread_list {
	struct thread_info *first;
	struct thread_info *last;
};

#define STACK_END_MAGIC	0x57ac6e9dul	/* the lowest word of every stack */

/**
 * struct thread_info - a thread
 * @cpu:		the CPU that the thread is on
 * @pid:		thread number in the trace; idle threads and the boot thread are 0
 * @preempt_count:	nesting of preempt_disable(): see preempt.h
 * @flags:		_TIF_* bits; other CPUs and a debugger change them too, so all changes are
 *			atomic
 * @curr_ret_stack:	index of the newest entry in @ret_stack; -1 when it is empty
 * @trace_overrun:	functions not traced by the graph tracer because @ret_stack was full
 * @ftrace_ignore:	not 0: functions of this thread are not traced (set_ftrace_pid); written by
 *			a debugger
 * @event_ignore:	EVENT_* bits: no events (set_event_pid), or filters; written by a debugger
 * @ret_stack:		the original return addresses saved by the graph tracer,
 *			FTRACE_RETFUNC_DEPTH entries
 * @ring_buffer:	the buffer of @cpu, set together with it
 * @stack_end:		the end of its stack, used on entry from user mode; 0 before sched_init()
 * @comm:		thread name in the trace
 * @state:		TASK_*
 * @bound_cpu:		the only CPU it may run on, or -1
 * @interrupted_pc:	pc at the interrupt being handled, or 0
 * @stack:		the lowest address of its stack, where STACK_END_MAGIC is; NULL: the boot
 *			thread, whose stack is the arch's
 * @next:		next thread in its wait queue
 * @wake_time:		TASK_INTERRUPTIBLE: sched_clock() at the end of its sleep
 * @function:		runs in the thread
 * @argument:		for @function
 * @exit_status:	EXIT_ZOMBIE: what @function returned
 * @joiners:		threads in kthread_join()
 * @user_stack:		number of its user stack, if it runs a program
 * @thread:		the CPU's registers while the thread does not run
 */
struct thread_info {
	s32 cpu;
	s32 pid;
	u32 preempt_count;
	u32 flags;		/* at THREAD_FLAGS */
	s32 curr_ret_stack;	/* at THREAD_CURR_RET_STACK, for setjmp() and longjmp() */
	u32 trace_overrun;
	u32 ftrace_ignore;
	u32 event_ignore;
	struct ftrace_ret_stack *ret_stack;
	struct ring_buffer_per_cpu *ring_buffer;
	void *stack_end;	/* at THREAD_STACK_END */
	char comm[16];
	u32 state;
	s32 bound_cpu;
	unsigned long interrupted_pc;
	void *stack;
	struct thread_info *next;
	u64 wake_time;
	int (*function)(void *);
	void *argument;
	int exit_status;
	struct thread_list joiners;
	unsigned int user_stack;
	struct thread_struct thread;
};

/* All threads: the boot thread (current in head.S), the idle threads and the others. */
extern struct thread_info threads[NR_THREADS];
extern struct thread_info init_thread;		/* threads[0] */

/* `current`: the struct thread_info * in a register of the arch. */
#include <asm/current.h>

/** sched_init - initialize the threads and this CPU's idle thread */
void sched_init(void);

/** sched_boot - enable interrupts and preemption */
void sched_boot(void);

/** schedule - let another thread run, if one is waiting */
void schedule(void);

/** sched_is_running - whether a thread runs now; out of date at once for another CPU's */
bool sched_is_running(const struct thread_info *thread);

/** cond_resched - the same, but only if a reschedule has been requested */
void cond_resched(void);

/** idle_create - create a CPU's idle thread; only while the kernel boots */
struct thread_info *idle_create(unsigned int cpu);

/** trace_sched_switch - called before __switch_to(), with interrupts masked */
void trace_sched_switch(bool preempt, struct thread_info *prev, struct thread_info *next);

/** cpu_idle - the rest of an idle thread; call with interrupts enabled */
void cpu_idle(void) __noreturn;

#endif
