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

/* struct thread_info.state: Linux's own numbers, as sched_switch events show them. */
#define TASK_RUNNING		0	/* runs, or waits for a CPU */
#define TASK_INTERRUPTIBLE	1	/* sleeps for some time */
#define TASK_UNINTERRUPTIBLE	2	/* waits for another thread */
#define EXIT_ZOMBIE		32	/* has ended, and nobody has joined it yet */
#define TASK_FREE		0x1000	/* no thread */

/* Threads that wait for the same thing, first come, first served. */
struct thread_list {
	struct thread_info *first;
	struct thread_info *last;
};

#define STACK_END_MAGIC	0x57ac6e9dul	/* the lowest word of every stack */

/**
 * struct thread_info - a thread
 * @cpu:		the CPU that the thread is on
 * @pid:		thread number in the trace; idle threads and the boot thread are 0
 * @preempt_count:	nesting of "must not be preempted": see preempt.h
 * @flags:		_TIF_* bits; other CPUs and a debugger write them, so changed by atomic
 *			operations
 * @curr_ret_stack:	index of the newest entry in @ret_stack; -1 when it is empty
 * @trace_overrun:	functions that the graph tracer left alone because @ret_stack was full
 * @ftrace_ignore:	not 0: no functions of this thread are traced (set_ftrace_pid); a debugger
 *			writes both this and
 * @event_ignore:	not 0: nor are its events (set_event_pid)
 * @ret_stack:		the return addresses that the graph tracer has taken, FTRACE_RETFUNC_DEPTH
 *			entries
 * @ring_buffer:	@cpu's: whoever sets one sets the other
 * @stack_end:		the address behind its stack, where user mode enters the kernel; 0 until
 *			sched_init(): then this is no thread yet
 * @comm:		thread name in the trace
 * @state:		TASK_*
 * @bound_cpu:		the only CPU that it may run on, or -1
 * @interrupted_pc:	where an interrupt has hit it that is not over yet, or 0
 * @stack:		the lowest address of its stack, where a word must not change; NULL: the
 *			boot thread, whose stack is the arch's
 * @next:		in the list that it waits in
 * @wake_time:		TASK_INTERRUPTIBLE: sched_clock() when it has slept enough
 * @function:		what it does
 * @argument:		for @function
 * @exit_status:	EXIT_ZOMBIE: what @function returned
 * @joiners:		threads in kthread_join()
 * @user_stack:		number of the user stack that it has, if it runs a program
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

/* All of them: the boot thread, which head.S makes current, the idle threads, and the others. */
extern struct thread_info threads[NR_THREADS];
extern struct thread_info init_thread;		/* threads[0] */

/* `current`: the struct thread_info * that the arch keeps in a register. */
#include <asm/current.h>

/** sched_init - the threads, and an idle thread for this CPU */
void sched_init(void);

/** sched_boot - from here on there are interrupts, and other threads may run */
void sched_boot(void);

/** schedule - let another thread run, if one is waiting */
void schedule(void);

/** sched_is_running - whether a CPU runs a thread, as far as one can know that of others */
bool sched_is_running(const struct thread_info *thread);

/** cond_resched - the same, but only if it is this thread's turn to make room */
void cond_resched(void);

/** idle_create - the thread for a CPU that has nothing to do; while the kernel boots */
struct thread_info *idle_create(unsigned int cpu);

/** trace_sched_switch - with interrupts masked, in front of __switch_to() */
void trace_sched_switch(bool preempt, struct thread_info *prev, struct thread_info *next);

/** cpu_idle - what idle threads do */
void cpu_idle(void) __noreturn;

#endif
