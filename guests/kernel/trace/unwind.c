// SPDX-License-Identifier: MIT
/*
 * Stack walks, independently of the format of frames. Frames are not trusted: a walk stays within
 * one stack and within the text of the kernel and its modules, and only goes up.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/unwind.h>

#include <asm/ptrace.h>

extern const char _text[], _etext[];
extern const char __boot_stack_end[];

#define BOOT_STACK_SIZE	0x100000

bool unwind_is_code(unsigned long address)
{
	if (address % UNWIND_INSN_ALIGN)
		return false;
	return address - (unsigned long)_text < (unsigned long)_etext - (unsigned long)_text ||
	       __module_text_address(address);
}

void unwind_bounds(struct unwind_frame *frame, struct thread_info *thread)
{
	frame->thread = thread;
	frame->high = (unsigned long)thread->stack_end;
	frame->low = (unsigned long)thread->stack;
	if (!frame->low) {
		frame->high = (unsigned long)__boot_stack_end;
		frame->low = frame->high - BOOT_STACK_SIZE;
	}
}

bool unwind_load(const struct unwind_frame *frame, unsigned long address, unsigned long *value)
{
	if (address % sizeof(long) || address < frame->low || address > frame->high - sizeof(long))
		return false;
	*value = *(const unsigned long *)address;
	return true;
}

unsigned long unwind_return_address(struct unwind_frame *frame, unsigned long address,
				    unsigned long where)
{
	address = ftrace_graph_ret_addr(frame->thread, &frame->graph_index, address,
					(unsigned long *)where);
	return unwind_strip(address);
}

void unwind_walk(struct unwind_frame *frame, stack_trace_consume_fn consume, void *cookie)
{
	unsigned long sp;
	int i;

	for (i = 0; i < UNWIND_MAX_FRAMES; i++) {
		if (!unwind_is_code(frame->pc))
			return;
		if (!consume(cookie, frame->pc))
			return;
		sp = frame->reg[UNWIND_SP];
		if (sp < frame->low || sp > frame->high || !arch_unwind_step(frame) ||
		    frame->reg[UNWIND_SP] < sp)
			return;
	}
}

void unwind_begin(struct unwind_frame *frame, struct thread_info *thread)
{
	unsigned int i;

	/* Not by an initializer, which may become a call of memset(). */
	for (i = 0; i < UNWIND_NR; i++)
		WRITE_ONCE(frame->reg[i], 0);
	frame->graph_index = 0;
	frame->exact = true;
	unwind_bounds(frame, thread);
}

noinline void arch_stack_walk(stack_trace_consume_fn consume, void *cookie,
			      struct thread_info *thread, struct pt_regs *regs)
{
	struct unwind_frame frame;

	unwind_begin(&frame, thread);
	if (regs) {
		frame.pc = instruction_pointer(regs);
		unwind_regs(frame.reg, regs);
	} else if (thread != current) {
		frame.pc = thread->thread.pc;
		unwind_switch(frame.reg, &thread->thread);
		frame.exact = !frame.reg[UNWIND_RA];
	} else {
		/* This function, and one step from it. */
		unwind_here(frame.pc, frame.reg);
		if (!arch_unwind_step(&frame))
			return;
	}
	unwind_walk(&frame, consume, cookie);
}
