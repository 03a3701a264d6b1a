/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 stubs of the tracers, with one slot: ftrace_caller saves what a function may be given
 * in registers, and ftrace_regs_caller all registers. The form of call site is in asm/ftrace.h.
 *
 * AAPCS64: x0..x7 are arguments, x8 is the address of a structure result, x29 the frame pointer,
 * x30 the return address; sp is always a multiple of 16.
 */
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <linux/linkage.h>

/*
 * The frame is struct ftrace_regs, that is, struct pt_regs. It ends with the stub's frame record,
 * so that an unwinder finds the stub and then the traced function. x29 and x30 in it are the record
 * that the traced function has not made yet, so that the unwinder finds its caller too.
 */
#define S_FP		S_X(29)
#define S_LR		S_X(30)

/* pstate without flags: the kernel's mode, which is not 0 (asm/ftrace.h). */
#define MODE_EL1H	5

/*
 * Unwind information. A stub has two return addresses: its own in x30, and the traced function's in
 * x9, which will be in x30 when the stub returns. So its own is in the column for pc (DWARF for the
 * Arm 64-bit Architecture, AADWARF64).
 */
#define COLUMN_PC	32

	.cfi_sections .eh_frame		/* for stack traces, and the debugger */
	.text

	/* At the entry of a stub. */
	.macro	unwind_entry
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, x30
	.cfi_register x30, x9
	.endm

	/* With the frame of save_arguments. */
	.macro	unwind_frame
	.cfi_def_cfa_offset S_FRAME_SIZE
	.cfi_offset x29, S_FP - S_FRAME_SIZE
	.cfi_offset x30, S_LR - S_FRAME_SIZE
	.cfi_offset COLUMN_PC, S_RECORD + 8 - S_FRAME_SIZE
	.endm

/*
 * What both stubs save (C1, C18). In: x30 = rec->ip + 4, x9 = the traced function's return address,
 * x29 = its caller's frame record, x0..x8 = live: there is no call for the compiler here. Out: x10
 * is changed, x29 = our record, which is not written yet.
 */
	.macro	save_arguments
	hint	#34				/* bti c, for veneers and trampolines */
	sub	sp, sp, #S_FRAME_SIZE
	.cfi_def_cfa_offset S_FRAME_SIZE
	stp	x9, x10, [sp, #S_X(9)]
	stp	x0, x1, [sp, #S_X(0)]
	stp	x2, x3, [sp, #S_X(2)]
	stp	x4, x5, [sp, #S_X(4)]
	stp	x6, x7, [sp, #S_X(6)]
	str	x8, [sp, #S_X(8)]
	stp	x29, x9, [sp, #S_FP]
	.cfi_offset x29, S_FP - S_FRAME_SIZE
	.cfi_offset x30, S_LR - S_FRAME_SIZE
	add	x10, sp, #S_FRAME_SIZE		/* sp at the site */
	stp	x10, x30, [sp, #S_SP]
	add	x29, sp, #S_FP
	stp	x29, x30, [sp, #S_RECORD]
	.cfi_offset COLUMN_PC, S_RECORD + 8 - S_FRAME_SIZE
	.endm

/*
 * ftrace_regs_caller - called by a site that is on, for tracers that want all registers (C21)
 *
 * Registers: see save_arguments. x19..x28 are preserved by what is called from here, and x11..x18
 * are not live.
 */
SYM_FUNC_START(ftrace_regs_caller)
	.cfi_startproc
	unwind_entry
	save_arguments
	stp	x11, x12, [sp, #S_X(11)]
	stp	x13, x14, [sp, #S_X(13)]
	stp	x15, x16, [sp, #S_X(15)]
	stp	x17, x18, [sp, #S_X(17)]
	stp	x19, x20, [sp, #S_X(19)]
	stp	x21, x22, [sp, #S_X(21)]
	stp	x23, x24, [sp, #S_X(23)]
	stp	x25, x26, [sp, #S_X(25)]
	stp	x27, x28, [sp, #S_X(27)]
	mov	x10, #MODE_EL1H
	str	x10, [sp, #S_PSTATE]
	b	ftrace_common
	.cfi_endproc
SYM_FUNC_END(ftrace_regs_caller)

/* ftrace_caller - called by a site that is on; registers: see save_arguments */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	unwind_entry
	save_arguments
	str	xzr, [sp, #S_PSTATE]
	b	ftrace_common
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

/*
 * ftrace_common - the slot, and the way back, of both stubs
 *
 * In: the frame and the registers of save_arguments. The tracer gets (C2, C18): x0 = ip = rec->ip,
 * x1 = parent_ip = the traced function's return address, x2 = op = what function_trace_op points
 * to, x3 = fregs. Out: x0..x8, x29 and x30 out of fregs, and on at its pc (C19).
 */
SYM_FUNC_START(ftrace_common)
	.cfi_startproc
	unwind_entry
	unwind_frame
	sub	x0, x30, #MCOUNT_INSN_SIZE
	mov	x1, x9
	adrp	x2, function_trace_op
	ldr	x2, [x2, #:lo12:function_trace_op]
	mov	x3, sp
	add	x29, sp, #S_RECORD

SYM_INNER_LABEL(ftrace_call)			/* nop or `bl tracer` (C10) */
	nop

	ldp	x0, x1, [sp, #S_X(0)]
	ldp	x2, x3, [sp, #S_X(2)]
	ldp	x4, x5, [sp, #S_X(4)]
	ldp	x6, x7, [sp, #S_X(6)]
	ldr	x8, [sp, #S_X(8)]
	ldr	x9, [sp, #S_PC]
	ldp	x29, x30, [sp, #S_FP]
	add	sp, sp, #S_FRAME_SIZE
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	.cfi_same_value x30
	.cfi_register COLUMN_PC, x9
	ret	x9
	.cfi_endproc
SYM_FUNC_END(ftrace_common)

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	hint	#34				/* bti c: called through pointers */
	ret
SYM_FUNC_END(ftrace_stub)
