/* SPDX-License-Identifier: MIT */
#ifndef _ASM_STACKTRACE_H
#define _ASM_STACKTRACE_H

/**
 * struct stackframe - an active function, as Linux has it for this architecture
 * @fp, @sp, @lr, @pc:	its registers; fp is r11 in A32, and r7 in T32
 * @lr_addr:		where its callee has stored the return address
 */
struct stackframe {
	unsigned long fp;
	unsigned long sp;
	unsigned long lr;
	unsigned long pc;
	unsigned long *lr_addr;
};

#ifdef __thumb__

/**
 * unwind_frame - from a function to its caller, by the tables (arch/arm/stacktrace.c)
 *
 * A function that has not stored lr leaves lr and lr_addr as they are. Returns a negative number if
 * there is no table for pc.
 */
int unwind_frame(struct stackframe *frame);

#else

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
#endif
