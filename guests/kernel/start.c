// SPDX-License-Identifier: MIT
/*
 * Initialisation, the workload, and the end.
 */
#include <linux/arch.h>
#include <linux/ftrace.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/thread.h>
#include <linux/trace_events.h>

int workload(void);
void workload_done(int status);

/* The result of workload(), for a debugger at workload_done(). */
int workload_status;

/* For a debugger's breakpoint at the end of the workload. */
__breakpoint void workload_done(int status)
{
	barrier();
}

/* The boot thread becomes the workload's, as it has the largest stack. */
static void run_workload(void)
{
	current->pid = 1;
	strcpy(current->comm, "workload");
	workload_status = workload();
	printk("workload: returned %d\n", workload_status);
	workload_done(workload_status);
}

/* Not traced: it begins before the port is ready, and never returns. */
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
	thread_exit(workload_status);
}
