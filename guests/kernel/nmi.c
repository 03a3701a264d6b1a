// SPDX-License-Identifier: MIT
/*
 * NMIs, from the arch's vectors on.
 */
#include <linux/nmi.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include <asm/ptrace.h>

u32 nmi_count;
unsigned long nmi_interrupted_pc[NR_CPUS];
unsigned long nmi_last_pc;

bool __weak arch_nmi_arm(u64 ns)
{
	return false;
}

void __weak arch_nmi_disarm(void)
{
}

noinline void nmi_work(void)
{
	__atomic_fetch_add(&nmi_count, 1, __ATOMIC_RELAXED);
}

/* Not traced, as do_irq(). The port is called before any traced function. */
notrace __section(".entry.text") void do_nmi(struct pt_regs *regs)
{
	unsigned long *pc = &nmi_interrupted_pc[current->cpu];

	WRITE_ONCE(*pc, instruction_pointer(regs));
	WRITE_ONCE(nmi_last_pc, instruction_pointer(regs));
	preempt_count_add(NMI_OFFSET);
	ftrace_nmi_enter();
	nmi_work();
	ftrace_nmi_exit();
	preempt_count_sub(NMI_OFFSET);
	WRITE_ONCE(*pc, 0);
}
