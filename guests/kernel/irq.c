// SPDX-License-Identifier: MIT
/*
 * Interrupts, from the arch's vectors on.
 */
#include <linux/arch.h>
#include <linux/irq.h>
#include <linux/preempt.h>

#include <asm/ptrace.h>

u32 injected_interrupts;
u32 tick_hz __section(".data");		/* not in .bss, which head.S clears */

void do_irq(struct pt_regs *regs)
{
	preempt_count_add(HARDIRQ_OFFSET);
	arch_handle_irq();
	preempt_count_sub(HARDIRQ_OFFSET);
}

void tick_interrupt(void)
{
}

void smp_ipi_interrupt(void)
{
}

noinline void injected_work(void)
{
}

void injected_interrupt(void)
{
	injected_interrupts++;
	injected_work();
}

void preempt_schedule(void)
{
}
