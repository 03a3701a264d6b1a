// SPDX-License-Identifier: MIT
/* Starting CPUs: they sleep in head.S, in machine mode, until a software interrupt wakes them. */
#include <asm/csr.h>
#include <asm/io.h>
#include <linux/arch.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/threads.h>

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
