// SPDX-License-Identifier: MIT
/*
 * From the first C instruction to the workload and what comes after it.
 */
#include <linux/arch.h>
#include <linux/ftrace.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/trace_events.h>

#include <asm/processor.h>

int workload(void);
void workload_done(int status);

/* What workload() returned, for whoever stops the guest in workload_done(). */
int workload_status;

/* A debugger's breakpoint: the workload is over. */
__breakpoint void workload_done(int status)
{
	barrier();
}

static void run_workload(void)
{
	struct thread_info *thread = current;

	/* It has the boot thread's stack to itself: only the name on the door changes. */
	thread->pid = 1;
	strcpy(thread->comm, "workload");
	workload_status = workload();
	printk("workload: returned %d\n", workload_status);
	workload_done(workload_status);
	thread->pid = 0;
	strcpy(thread->comm, "swapper");
}

/* Not traced, because it begins before the port is ready and never returns. */
notrace void start_kernel(void)
{
	arch_trap_init();
	sched_init();
	arch_timer_init();
	ring_buffer_init();
	ftrace_graph_init();
	ftrace_init();
	trace_event_init();
	arch_irq_init();
	arch_user_init();
	sched_boot();
	smp_init();
	printk("ftrace: %lu call sites, %zu-bit guest\n",
	       (unsigned long)(__stop_mcount_loc - __start_mcount_loc), 8 * sizeof(long));
	run_workload();
	for (;;)
		arch_idle();
}
