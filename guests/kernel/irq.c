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

/* The first traced function of an interrupt; the graph view recognises it by its section. */
static noinline __section(".irqentry.text") void handle_irq(void)
{
	preempt_count_add(HARDIRQ_OFFSET);
	arch_handle_irq();
	preempt_count_sub(HARDIRQ_OFFSET);
}

/*
 * Not traced, and in the vectors' section: at a stop elsewhere a debugger reads interrupted_pc.
 */
notrace __section(".entry.text") void do_irq(struct pt_regs *regs)
{
	struct thread_info *thread = current;

	WRITE_ONCE(thread->interrupted_pc, instruction_pointer(regs));
	trace_hardirqs_off(instruction_pointer(regs));
	handle_irq();
	/* After the interrupt: otherwise the next thread would seem to run inside it. */
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
