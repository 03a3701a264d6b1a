/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 stub of the tracers, with one slot. The form of call site is in asm/ftrace.h.
 *
 * AAPCS64: x0..x7 are arguments, x8 is the address of a structure result, x29 the frame pointer,
 * x30 the return address; sp is always a multiple of 16.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/*
 * The frame, from sp up: a frame record, so that an unwinder finds the stub and then the traced
 * function, and struct ftrace_regs. Its fp and lr are the record that the traced function has not
 * made yet, so that the unwinder finds its caller too.
 */
#define FRAME_FP	0
#define FRAME_PC	8		/* return address into the traced function */
#define FRAME_FREGS	16
#define FRAME_SIZE	(FRAME_FREGS + FREGS_SIZE)

/*
 * Unwind information. The stub has two return addresses: its own in x30, and the traced function's
 * in x9, which will be in x30 when the stub returns. So its own is in the column for pc (DWARF for
 * the Arm 64-bit Architecture, AADWARF64).
 */
#define COLUMN_PC	32

	.cfi_sections .eh_frame		/* for stack traces, and the debugger */
	.text

/*
 * ftrace_caller - called by a site that is on
 *
 * In: x30 = rec->ip + 4, x9 = the traced function's return address, x29 = its caller's frame
 * record, x0..x8 = live (C1): there is no call for the compiler here. x9..x18 are not live at a
 * function's entry, and callers keep nothing there: gcc does not apply -fipa-ra to functions with a
 * call site (B105). Floating-point and SIMD registers can be arguments; they survive because all
 * code called from here is built with -mgeneral-regs-only.
 *
 * The tracer gets (C2, C18): x0 = ip = rec->ip, x1 = parent_ip = the traced function's return
 * address, x2 = op = what function_trace_op points to, x3 = fregs = the registers at the site.
 *
 * Out: x0..x8, x29 and x30 out of fregs, and on at its pc (C19).
 *
 * The landing pad is for a linker's veneer and the trampolines of modules, which use `br x16`.
 */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, x30
	.cfi_register x30, x9
	hint	#34				/* bti c */
	sub	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	stp	x0, x1, [sp, #FRAME_FREGS + FREGS_X0]
	stp	x2, x3, [sp, #FRAME_FREGS + FREGS_X0 + 16]
	stp	x4, x5, [sp, #FRAME_FREGS + FREGS_X0 + 32]
	stp	x6, x7, [sp, #FRAME_FREGS + FREGS_X0 + 48]
	str	x8, [sp, #FRAME_FREGS + FREGS_X8]
	add	x10, sp, #FRAME_SIZE		/* sp at the site */
	stp	x29, x9, [sp, #FRAME_FREGS + FREGS_FP]
	.cfi_offset x29, FRAME_FREGS + FREGS_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_FREGS + FREGS_LR - FRAME_SIZE
	stp	x10, x30, [sp, #FRAME_FREGS + FREGS_SP]
	add	x29, sp, #FRAME_FREGS + FREGS_FP
	stp	x29, x30, [sp, #FRAME_FP]
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
	mov	x29, sp

	sub	x0, x30, #MCOUNT_INSN_SIZE
	mov	x1, x9
	adrp	x2, function_trace_op
	ldr	x2, [x2, #:lo12:function_trace_op]
	add	x3, sp, #FRAME_FREGS

SYM_INNER_LABEL(ftrace_call)			/* nop or `bl tracer` (C10) */
	nop

	ldp	x0, x1, [sp, #FRAME_FREGS + FREGS_X0]
	ldp	x2, x3, [sp, #FRAME_FREGS + FREGS_X0 + 16]
	ldp	x4, x5, [sp, #FRAME_FREGS + FREGS_X0 + 32]
	ldp	x6, x7, [sp, #FRAME_FREGS + FREGS_X0 + 48]
	ldr	x8, [sp, #FRAME_FREGS + FREGS_X8]
	ldr	x9, [sp, #FRAME_FREGS + FREGS_PC]
	ldp	x29, x30, [sp, #FRAME_FREGS + FREGS_FP]
	add	sp, sp, #FRAME_SIZE
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	.cfi_same_value x30
	.cfi_register COLUMN_PC, x9
	ret	x9
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	hint	#34				/* bti c: called through pointers */
	ret
SYM_FUNC_END(ftrace_stub)
