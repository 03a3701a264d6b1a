// SPDX-License-Identifier: MIT
/*
 * Walking a stack, where AArch64 has a say: where it begins, and code without tables, as a port
 * may have. There the frame record that x29 points to is all there is; one step with it is right
 * where a stub calls the tracer, if it has made a record as AAPCS64 wants it.
 */
#include <linux/stacktrace.h>
#include <linux/unwind.h>

#include <asm/ptrace.h>

static bool unwind_by_record(struct unwind_frame *frame)
{
	unsigned long record = frame->reg[UNWIND_FP];
	unsigned long fp, pc;

	if (record < frame->reg[UNWIND_SP] || !unwind_load(frame, record, &fp) ||
	    !unwind_load(frame, record + 8, &pc))
		return false;
	frame->reg[UNWIND_FP] = fp;
	frame->reg[UNWIND_SP] = record + 16;
	frame->pc = unwind_return_address(frame, pc, unwind_retp(frame->reg, record + 8));
	frame->exact = false;
	return true;
}

bool arch_unwind_step(struct unwind_frame *frame)
{
	return unwind_by_table(frame) || unwind_by_record(frame);
}

static void begin_at_regs(struct unwind_frame *frame, const struct pt_regs *regs)
{
	frame->pc = regs->pc;
	frame->exact = true;
	frame->reg[UNWIND_X0] = regs->regs[0];
	frame->reg[UNWIND_X9] = regs->regs[9];
	frame->reg[UNWIND_FP] = regs->regs[29];
	frame->reg[UNWIND_RA] = regs->regs[30];
	frame->reg[UNWIND_SP] = regs->sp;
}

static void begin_at_switch(struct unwind_frame *frame, const struct thread_struct *thread)
{
	frame->pc = thread->pc;
	frame->exact = !thread->lr;		/* it has not run yet */
	frame->reg[UNWIND_FP] = thread->fp;
	frame->reg[UNWIND_RA] = thread->lr;
	frame->reg[UNWIND_SP] = thread->sp;
}

noinline void arch_stack_walk(stack_trace_consume_fn consume, void *cookie,
			      struct thread_info *thread, struct pt_regs *regs)
{
	struct unwind_frame frame = { 0 };

	unwind_bounds(&frame, thread);
	if (regs) {
		begin_at_regs(&frame, regs);
	} else if (thread != current) {
		begin_at_switch(&frame, &thread->thread);
	} else {
		/* Here, and then one step. */
		__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
				 : "=&r"(frame.pc), "=&r"(frame.reg[UNWIND_SP]),
				   "=r"(frame.reg[UNWIND_FP]));
		frame.exact = true;
		if (!arch_unwind_step(&frame))
			return;
	}
	unwind_walk(&frame, consume, cookie);
}
