/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 stubs of the function tracers, for both forms of call site (see asm/ftrace.h).
 *
 * AAPCS64: x0..x7 are arguments, x8 is the address of a structure result, x29 the frame pointer,
 * x30 the return address; sp is always a multiple of 16.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/*
 * The frame of the stubs, from sp up. It begins with a frame record, so that an unwinder finds the
 * stub, then the traced function. Patchable entries come before the prologue: there the end of the
 * frame has the record that the traced function has not made yet, so that the unwinder finds its
 * caller too.
 */
#define FRAME_FP	0
#define FRAME_PC	8		/* return address into the traced function */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define FRAME_X0	16
#define FRAME_X8	80		/* and eight bytes of padding */
#define FRAME_PARENT_FP	96
#define FRAME_PARENT_PC	104		/* return address of the traced function */
#define FRAME_SIZE	112
#else
#define FRAME_SIZE	16
#endif

/* A frame record. */
#define RECORD_FP	0
#define RECORD_PC	8

	.cfi_sections .eh_frame		/* for stack traces, and the debugger */
	.text

/*
 * Unwind information. At a patchable entry a stub has two return addresses: its own in x30, and the
 * traced function's in x9, which will be in x30 when the stub returns. So its own is in the column
 * for pc (DWARF for the Arm 64-bit Architecture, AADWARF64).
 */
#define COLUMN_PC	32

	/* At the entry of a stub. */
	.macro	unwind_entry
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, x30
	.cfi_register x30, x9
#endif
	.endm

	/* With the frame of save_state. */
	.macro	unwind_frame
	.cfi_def_cfa_offset FRAME_SIZE
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	.cfi_offset x29, FRAME_PARENT_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_PARENT_PC - FRAME_SIZE
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
#else
	.cfi_offset x29, FRAME_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_PC - FRAME_SIZE
#endif
	.endm

/*
 * Saves the registers that the ABI requires (C1). The compiler treats a call of _mcount like any
 * other: it expects that x0..x18 change and has saved x0..x8. At a patchable entry there is no call
 * for the compiler: x0..x8 and x30 are live. x9..x18 are not live at a function's entry, and
 * callers keep nothing there: gcc does not apply -fipa-ra to functions with a call site (B105).
 * Floating-point and SIMD registers can be arguments; they survive because all code called from
 * here is built with -mgeneral-regs-only.
 *
 * In, form mcount: x30 = rec->ip + 4, x29 = the traced function's frame record, whose second word
 * is its return address. Patchable entry: x30 = rec->ip + 8, x9 = the traced function's return
 * address, x29 = its caller's frame record.
 * Out, both forms: x29 = the traced function's record, x30 unchanged.
 */
	.macro	save_state
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	sub	sp, sp, #FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
	stp	x29, x9, [sp, #FRAME_PARENT_FP]
	.cfi_offset x29, FRAME_PARENT_FP - FRAME_SIZE
	.cfi_offset x30, FRAME_PARENT_PC - FRAME_SIZE
	add	x29, sp, #FRAME_PARENT_FP
	stp	x29, x30, [sp, #FRAME_FP]
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
	stp	x0, x1, [sp, #FRAME_X0]
	stp	x2, x3, [sp, #FRAME_X0 + 16]
	stp	x4, x5, [sp, #FRAME_X0 + 32]
	stp	x6, x7, [sp, #FRAME_X0 + 48]
	str	x8, [sp, #FRAME_X8]
#else
	stp	x29, x30, [sp, #-FRAME_SIZE]!
	unwind_frame
#endif
	.endm

/*
 * Reverses save_state and returns to the traced function. At a patchable entry x30 gets the value
 * of x9 at entry, or its replacement by the graph tracer (B41).
 */
	.macro	restore_state_and_return
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	ldp	x0, x1, [sp, #FRAME_X0]
	ldp	x2, x3, [sp, #FRAME_X0 + 16]
	ldp	x4, x5, [sp, #FRAME_X0 + 32]
	ldp	x6, x7, [sp, #FRAME_X0 + 48]
	ldr	x8, [sp, #FRAME_X8]
	ldr	x9, [sp, #FRAME_PC]
	ldp	x29, x30, [sp, #FRAME_PARENT_FP]
	add	sp, sp, #FRAME_SIZE
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	.cfi_same_value x30
	.cfi_register COLUMN_PC, x9
	ret	x9
#else
	ldp	x29, x30, [sp], #FRAME_SIZE
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
#endif
	.endm

/*
 * The tracer's x0 = ip = rec->ip and x1 = parent_ip = the traced function's return address without
 * its signature (C2, B33, Linux's order). In: the state after save_state. Out: x29 = our record.
 */
	.macro	trace_arguments
	sub	x0, x30, #MCOUNT_INSN_SIZE
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	mov	x1, x9
#else
	ldr	x30, [x29, #RECORD_PC]
	hint	#7				/* xpaclri; a nop on CPUs without PAC */
	mov	x1, x30
#endif
	mov	x29, sp
	.endm

/*
 * x0 = the address of the traced function's return address, x1 = ip, x2 = its caller's frame
 * pointer (C4, C6). In: the frame of save_state.
 */
	.macro	graph_arguments
	ldp	x3, x1, [sp, #FRAME_FP]
	add	x0, x3, #RECORD_PC
	sub	x1, x1, #MCOUNT_INSN_SIZE
	ldr	x2, [x3, #RECORD_FP]
	.endm

#ifdef CONFIG_DYNAMIC_FTRACE

/*
 * _mcount - called by sites of form mcount until ftrace_init() makes them nops (C8)
 *
 * x30 = return address. gcc treats the call like any other and expects that x30 changes. The
 * landing pad, here and below, is for a linker's veneer, which uses `br x16`.
 */
SYM_FUNC_START(_mcount)
	hint	#34				/* bti c */
	ret
SYM_FUNC_END(_mcount)

/*
 * ftrace_caller - called by a site that is on
 *
 * Registers: see save_state. Both slots are one word (C10, C11).
 */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	unwind_entry
	hint	#34				/* bti c */
	save_state
	trace_arguments

SYM_INNER_LABEL(ftrace_call)		/* nop or `bl tracer` */
	nop

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)	/* nop or `b ftrace_graph_caller` */
	nop
#endif

	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * ftrace_graph_caller - the part of ftrace_caller() that hijacks the return address (C4)
 *
 * Reached from ftrace_graph_call by a branch, with ftrace_caller's frame.
 */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	unwind_entry
	unwind_frame
	graph_arguments
	bl	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#else /* !CONFIG_DYNAMIC_FTRACE */

	/* Branch to \target with x9 = the pointer \name, unless that is \stub. Uses x10. */
	.macro	branch_unless_stub name, stub, target
	adrp	x9, \name
	ldr	x9, [x9, #:lo12:\name]
	adrp	x10, \stub
	add	x10, x10, #:lo12:\stub
	cmp	x9, x10
	b.ne	\target
	.endm

/*
 * _mcount - static: every site always calls it
 *
 * In: x30 = rec->ip + 4, x29 = the traced function's frame record. Without a tracer no branch is
 * taken (C3) and nothing is saved: x9 and x10 may be changed by every call.
 */
SYM_FUNC_START(_mcount)
	.cfi_startproc
	hint	#34				/* bti c */
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	adrp	x9, function_trace_stop
	ldr	w9, [x9, #:lo12:function_trace_stop]
	cbnz	w9, .Lmcount_return
#endif
	branch_unless_stub ftrace_trace_function, ftrace_stub, ftrace_trace_caller
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
.Lmcount_graph:
	branch_unless_stub ftrace_graph_return, ftrace_stub, ftrace_graph_caller
	branch_unless_stub ftrace_graph_entry, ftrace_graph_entry_stub, ftrace_graph_caller
#endif
.Lmcount_return:
	ret
	.cfi_endproc
SYM_FUNC_END(_mcount)

/* ftrace_trace_caller - _mcount's "do_trace"; x9 = the tracer, the rest as in _mcount. */
SYM_FUNC_START(ftrace_trace_caller)
	.cfi_startproc
	save_state
	trace_arguments
	blr	x9
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	ldp	x29, x30, [sp], #FRAME_SIZE
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	b	.Lmcount_graph			/* both tracers may be on */
#else
	restore_state_and_return
#endif
	.cfi_endproc
SYM_FUNC_END(ftrace_trace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller - hijack the return address (C4); registers as in _mcount */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	save_state
	mov	x29, sp
	graph_arguments
	bl	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	hint	#34				/* bti c: called through pointers */
	ret
SYM_FUNC_END(ftrace_stub)
