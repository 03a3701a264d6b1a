/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SMP_H
#define _LINUX_SMP_H

#include <linux/sched.h>

/**
 * struct cpu_info - what others may want to know about a CPU
 * @idle:	the thread that runs when there is no other
 * @running:	the thread that runs now
 * @requests:	CPU_* bits that other CPUs have set
 * @online:	it takes threads
 * @tick_hz:	the rate of its ticks now, 0 while it has none
 */
struct cpu_info {
	struct thread_info *idle;
	struct thread_info *running;
	u32 requests;
	u32 online;
	u32 tick_hz;
};

#define CPU_RESCHEDULE	1	/* look at the run queue */
#define CPU_STOP	2	/* the kernel has panicked */

extern struct cpu_info cpu_info[NR_CPUS];

#define smp_processor_id()	((unsigned int)current->cpu)

/** smp_init - start the other CPUs and wait for them */
void smp_init(void);

/** smp_request - set a bit in another CPU's requests and interrupt it */
void smp_request(unsigned int cpu, u32 request);

/** smp_stop_this - do nothing more */
void smp_stop_this(void) __noreturn;

/** smp_stop_others - let every CPU but this one do nothing more */
void smp_stop_others(void);

/** secondary_start_kernel - where arch_cpu_up() brings a CPU to, with `current` its idle thread */
void secondary_start_kernel(void) __noreturn;

#endif
