// SPDX-License-Identifier: MIT
/*
 * Threads and who runs them.
 */
#include <linux/arch.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/string.h>

struct thread_info threads[NR_THREADS];
extern struct thread_info init_thread __attribute__((alias("threads")));
struct thread_table thread_table;

_Static_assert(offsetof(struct thread_info, flags) == THREAD_FLAGS, "threads.h");
_Static_assert(offsetof(struct thread_info, curr_ret_stack) == THREAD_CURR_RET_STACK, "threads.h");

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define RET_STACK_SIZE	sizeof(struct ftrace_ret_stack)
_Static_assert(offsetof(struct ftrace_ret_stack, ret) == 0, "sched.h");
#else
#define RET_STACK_SIZE	0
#endif

static void thread_table_init(void)
{
	thread_table = (struct thread_table) {
		.version = THREAD_TABLE_VERSION,
		.nr_threads = NR_THREADS,
		.entry_size = sizeof(struct thread_info),
		.long_size = sizeof(long),
		.ret_stack_size = RET_STACK_SIZE,
		.comm_size = sizeof(threads->comm),
		.offset_comm = offsetof(struct thread_info, comm),
		.offset_pid = offsetof(struct thread_info, pid),
		.offset_cpu = offsetof(struct thread_info, cpu),
		.offset_flags = offsetof(struct thread_info, flags),
		.offset_state = offsetof(struct thread_info, state),
		.offset_curr_ret_stack = offsetof(struct thread_info, curr_ret_stack),
		.offset_ret_stack = offsetof(struct thread_info, ret_stack),
		.offset_interrupted_pc = offsetof(struct thread_info, interrupted_pc),
		.offset_saved_pc = offsetof(struct thread_info, thread.pc),
		.offset_saved_sp = offsetof(struct thread_info, thread.sp),
		.threads = (unsigned long)threads,
	};
	barrier();
	thread_table.magic = THREAD_TABLE_MAGIC;
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
	strcpy(init_thread.comm, "swapper");
	thread_table_init();
}
