/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_SMP_H
#define _LINUX_SMP_H

#include <linux/sched.h>

#include <asm/processor.h>

/*
 * Discards prefetched instructions, on architectures where an interrupt does not; defined in
 * asm/processor.h.
 */
#ifndef arch_sync_core
#define arch_sync_core()	do { } while (0)
#endif

/**
 * struct cpu_info - the state of a CPU
 * @idle:	its idle thread
 * @running:	the current thread
 * @requests:	CPU_* bits, set by other CPUs
 * @online:	it runs threads
 * @tick_hz:	current rate of its ticks, 0 while they are stopped
 * @syncs:	how many CPU_SYNC it has answered
 */
struct cpu_info {
	struct thread_info *idle;
	struct thread_info *running;
	u32 requests;
	u32 online;
	u32 tick_hz;
	u32 syncs;
};

#define CPU_RESCHEDULE	1	/* look at the run queue */
#define CPU_STOP	2	/* the kernel has panicked */
#define CPU_SYNC	4	/* another CPU waits for an interrupt here */

extern struct cpu_info cpu_info[NR_CPUS];

#define smp_processor_id()	((unsigned int)current->cpu)

/** smp_init - start the other CPUs and wait for them */
void smp_init(void);

/** smp_request - set a bit in another CPU's requests and interrupt it */
void smp_request(unsigned int cpu, u32 request);

/** kick_all_cpus_sync - wait until every other CPU has taken an interrupt; not traced */
void kick_all_cpus_sync(void);

/** smp_stop_this - stop this CPU */
void smp_stop_this(void) __noreturn;

/** smp_stop_others - stop every CPU but this one */
void smp_stop_others(void);

/** secondary_start_kernel - C entry point of a CPU started by arch_cpu_up(), in its idle thread */
void secondary_start_kernel(void) __noreturn;

#endif
