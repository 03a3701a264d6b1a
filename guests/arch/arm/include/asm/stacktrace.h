/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_STACKTRACE_H
#define _COMPAT_ASM_STACKTRACE_H

/**
 * struct stackframe - an active function
 * @fp, @sp, @lr, @pc:	its registers
 * @lr_addr:		where its callee has stored the return address
 */
struct stackframe {
	unsigned long fp;
	unsigned long sp;
	unsigned long lr;
	unsigned long pc;
	unsigned long *lr_addr;
};

/*
 * From a function to its caller. With gcc, every function has a frame as the APCS has it, and fp
 * points to the last of its four words: the caller's fp, sp at the function's entry, the return
 * address, and pc.
 */
static inline int unwind_frame(struct stackframe *frame)
{
#ifdef __clang__
#error "The frames of clang do not say where the stack was at the entry of a function"
#endif
	unsigned long *last = (unsigned long *)frame->fp;

	frame->lr_addr = last - 1;
	frame->lr = frame->pc = last[-1];
	frame->sp = last[-2];
	frame->fp = last[-3];
	return 0;
}

#endif
