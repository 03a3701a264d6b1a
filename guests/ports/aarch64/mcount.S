/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 stubs of the function tracer, for both forms of call site (see asm/ftrace.h).
 *
 * AAPCS64: x0..x7 are arguments, x8 is the address for a structure result, x29 the frame pointer,
 * x30 the return address; sp stays a multiple of 16.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/*
 * The frame of ftrace_caller, from sp up. It begins with a frame record, so that an unwinder finds
 * ftrace_caller, then the traced function. Patchable entries come before the prologue: there the
 * record that the traced function has not made yet stands at the end of ours, so that the unwinder
 * finds its caller too.
 */
#define FRAME_FP	0
#define FRAME_PC	8		/* return address into the traced function */
#define FRAME_X0	16
#define FRAME_X8	80		/* and eight bytes of padding */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define FRAME_PARENT_FP	96
#define FRAME_PARENT_PC	104		/* return address of the traced function */
#define FRAME_SIZE	112
#else
#define FRAME_SIZE	96
#endif

	.cfi_sections .debug_frame	/* for the debugger; nothing here unwinds by .eh_frame */
	.text

/*
 * _mcount() - what the sites of form mcount call before ftrace_init() has made them nops (C8)
 *
 * x30 = return address. gcc treats the call like any other and expects x30 changed.
 */
SYM_FUNC_START(_mcount)
	ret
SYM_FUNC_END(_mcount)

/*
 * ftrace_caller() - what a site calls that is switched on
 *
 * In, form mcount: x30 = rec->ip + 4, x29 = the traced function's frame record, whose second word
 * is its return address. Patchable entry: x30 = rec->ip + 8, x9 = the traced function's return
 * address, x29 = its caller's frame record.
 *
 * Saves x0..x8, x29 and x30, and for patchable entries gives x30 the value of x9 back (C1, B41).
 * Behind -pg the compiler has already put the arguments away; the stub does not rely on it.
 * x9..x18 carry nothing into a function, and a caller keeps nothing there: gcc does not apply
 * -fipa-ra to functions that have a call site (B105). Floating point and SIMD registers do carry
 * arguments; they survive because everything called from here is built with -mgeneral-regs-only.
 *
 * Calls the tracer with x0 = ip = rec->ip and x1 = parent_ip = where the traced function returns
 * to (C2, Linux's order).
 */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	sub	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	stp	x29, x9, [sp, #FRAME_PARENT_FP]
	add	x29, sp, #FRAME_PARENT_FP
	stp	x29, x30, [sp, #FRAME_FP]
	.cfi_offset x29, FRAME_PARENT_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_PC - FRAME_SIZE
#else
	stp	x29, x30, [sp, #-FRAME_SIZE]!
	.cfi_def_cfa_offset FRAME_SIZE
	.cfi_offset x29, FRAME_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_PC - FRAME_SIZE
#endif
	stp	x0, x1, [sp, #FRAME_X0]
	stp	x2, x3, [sp, #FRAME_X0 + 16]
	stp	x4, x5, [sp, #FRAME_X0 + 32]
	stp	x6, x7, [sp, #FRAME_X0 + 48]
	str	x8, [sp, #FRAME_X8]

	sub	x0, x30, #MCOUNT_INSN_SIZE
	ldr	x1, [x29, #8]			/* both forms: the traced function's record */
	mov	x29, sp

SYM_INNER_LABEL(ftrace_call)	/* one word, rewritten (C10): nop or `bl tracer` */
	nop

	ldp	x0, x1, [sp, #FRAME_X0]
	ldp	x2, x3, [sp, #FRAME_X0 + 16]
	ldp	x4, x5, [sp, #FRAME_X0 + 32]
	ldp	x6, x7, [sp, #FRAME_X0 + 48]
	ldr	x8, [sp, #FRAME_X8]
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	ldr	x9, [sp, #FRAME_PC]
	ldp	x29, x30, [sp, #FRAME_PARENT_FP]	/* x30 as the caller's bl left it */
	add	sp, sp, #FRAME_SIZE
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	.cfi_register x30, x9
	ret	x9
#else
	ldp	x29, x30, [sp], #FRAME_SIZE
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
#endif
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

/* ftrace_stub() - the tracer that does nothing; its address stands for "no tracer". */
SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)
