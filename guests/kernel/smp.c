// SPDX-License-Identifier: MIT
/*
 * Several CPUs: start and inter-processor interrupts.
 */
#include <linux/arch.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/irq.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/thread.h>

#include <asm/processor.h>

#include "sched.h"

#define CPU_UP_TIMEOUT	10000000000ull	/* ns */

struct cpu_info cpu_info[NR_CPUS];

/* For machines with one CPU. */
int __weak arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	return -EINVAL;
}

void __weak arch_send_ipi(unsigned int cpu)
{
}

/* Not traced, because panic() calls it. */
notrace void smp_request(unsigned int cpu, u32 request)
{
	__atomic_fetch_or(&cpu_info[cpu].requests, request, __ATOMIC_RELEASE);
	arch_send_ipi(cpu);
}

static __always_inline bool is_other(unsigned int cpu)
{
	return cpu != smp_processor_id() && cpu_info[cpu].online;
}

notrace void smp_stop_others(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (is_other(cpu))
			smp_request(cpu, CPU_STOP);
}

static __always_inline u32 syncs_of(unsigned int cpu)
{
	return __atomic_load_n(&cpu_info[cpu].syncs, __ATOMIC_ACQUIRE);
}

/* For code that patches text: what is called between two stores must have no site. */
notrace void kick_all_cpus_sync(void)
{
	u32 before[NR_CPUS];
	unsigned int cpu;

	/* What was written is there before a CPU is asked. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		before[cpu] = syncs_of(cpu);
		if (is_other(cpu))
			smp_request(cpu, CPU_SYNC);
	}
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		while (is_other(cpu) && syncs_of(cpu) == before[cpu])
			cpu_relax();
}

notrace void smp_stop_this(void)
{
	raw_local_irq_disable();
	for (;;)
		arch_idle();
}

void smp_ipi_interrupt(void)
{
	struct cpu_info *cpu = &cpu_info[smp_processor_id()];
	u32 requests = __atomic_exchange_n(&cpu->requests, 0, __ATOMIC_ACQUIRE);

	if (requests & CPU_STOP)
		smp_stop_this();
	if (requests & CPU_SYNC) {
		arch_sync_core();
		__atomic_fetch_add(&cpu->syncs, 1, __ATOMIC_RELEASE);
	}
	if (requests & CPU_RESCHEDULE)
		sched_requested();
}

/*
 * The rest of an arch's secondary CPU. Not traced, because it never returns. It is online when it
 * is idle: the boot CPU goes on to the workload, and nothing that can be traced runs here then.
 */
notrace void secondary_start_kernel(void)
{
	arch_irq_init();
	arch_user_init();
	raw_spin_lock(&sched_spinlock);
	sched_tick();
	raw_spin_unlock(&sched_spinlock);
	local_irq_enable();
	__atomic_store_n(&cpu_info[smp_processor_id()].online, 1, __ATOMIC_RELEASE);
	cpu_idle();
}

static void cpu_up(unsigned int cpu)
{
	struct thread_info *idle = idle_create(cpu);
	u64 deadline = local_clock() + CPU_UP_TIMEOUT;
	int error;

	cpu_info[cpu].running = idle;
	error = arch_cpu_up(cpu, idle, idle->stack_end);
	if (error)
		panic("CPU %u cannot be started: error %d", cpu, error);
	while (!__atomic_load_n(&cpu_info[cpu].online, __ATOMIC_ACQUIRE)) {
		if (local_clock() > deadline)
			panic("CPU %u has been started and does not answer", cpu);
		cpu_relax();
	}
}

void smp_init(void)
{
	unsigned int cpu;

	for (cpu = 1; cpu < NR_CPUS; cpu++)
		cpu_up(cpu);
}
