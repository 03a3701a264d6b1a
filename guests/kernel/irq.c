// SPDX-License-Identifier: MIT
/*
 * Interrupts, from the arch's vectors on.
 */
#include <linux/arch.h>
#include <linux/irq.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include <asm/ptrace.h>

u32 injected_interrupts;

/* The rest of do_irq(), and where an interrupt begins in traces of functions, which mark it by its place in the text. */
static noinline __section(".irqentry.text") void handle_irq(void)
{
	preempt_count_add(HARDIRQ_OFFSET);
	arch_handle_irq();
	preempt_count_sub(HARDIRQ_OFFSET);
}

/*
 * Not traced, and among the vectors: a debugger that stops elsewhere finds out from interrupted_pc
 * where the thread goes on.
 */
notrace __section(".entry.text") void do_irq(struct pt_regs *regs)
{
	struct thread_info *thread = current;

	WRITE_ONCE(thread->interrupted_pc, instruction_pointer(regs));
	trace_hardirqs_off(instruction_pointer(regs));
	handle_irq();
	/* No part of the interrupt: the thread that comes next would seem to run inside of it. */
	if (READ_ONCE(current->flags) & _TIF_NEED_RESCHED && !preempt_count())
		preempt_schedule_irq();
	trace_hardirqs_on(instruction_pointer(regs));
	WRITE_ONCE(thread->interrupted_pc, 0);
}

noinline void injected_work(void)
{
}

void injected_interrupt(void)
{
	__atomic_fetch_add(&injected_interrupts, 1, __ATOMIC_RELAXED);
	injected_work();
}
