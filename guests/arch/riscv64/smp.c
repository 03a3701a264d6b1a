// SPDX-License-Identifier: MIT
/*
 * The exception stack of each CPU, and starting CPUs: they sleep in head.S, in machine mode, until
 * a software interrupt wakes them.
 */
#include <asm/csr.h>
#include <asm/io.h>
#include <asm/ptrace.h>
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/threads.h>

/* For entry.S: a stack for fatal exceptions, and behind it the CPU's area. */
unsigned char exception_stacks[NR_CPUS][EXCEPTION_STACK_SIZE] __aligned(16);

extern struct thread_info *secondary_thread[NR_CPUS];

int arch_cpu_up(unsigned int cpu, struct thread_info *idle, void *stack_end)
{
	idle->thread.sp = (unsigned long)stack_end;
	__asm__ volatile("fence rw, rw" : : : "memory");
	WRITE_ONCE(secondary_thread[cpu], idle);
	__asm__ volatile("fence rw, rw" : : : "memory");
	writel(1, CLINT_MSIP + cpu * 4);
	return 0;
}
