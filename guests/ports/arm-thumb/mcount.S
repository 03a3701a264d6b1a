/* SPDX-License-Identifier: MIT */
/*
 * The arm stubs of the function tracers in T32 (see asm/ftrace.h).
 *
 * AAPCS: r0..r3 are arguments, lr the return address, sp is a multiple of 8 at calls of global
 * functions, except in leaf functions, which includes their calls of __gnu_mcount_nc. r7 is gcc's
 * frame pointer. lr has no fixed distance from it; only the tables have the location of lr.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	.syntax unified

/*
 * The frame of the stubs, from fp up: r0..r3, the traced function's fp, the address to return to,
 * and behind that what the traced function has pushed: its own return address.
 */
#define FRAME_FP	16
#define FRAME_PC	20
#define FRAME_PARENT_PC	24
#define FRAME_SIZE	28

/* The column of pc, for a stub has two return addresses: its own, and the traced function's, which
 * is in lr when the stub returns. */
#define COLUMN_PC	15

	.cfi_sections .eh_frame
	.text

	/* At the entry of a stub: the traced function's sp is one word higher. */
	.macro	unwind_entry
	.cfi_return_column COLUMN_PC
	.cfi_def_cfa sp, 4
	.cfi_offset lr, -4
	.cfi_register COLUMN_PC, lr
	.endm

	/* With the frame of save_state, at \base. */
	.macro	unwind_frame base
	.cfi_def_cfa \base, FRAME_SIZE
	.cfi_offset fp, FRAME_FP - FRAME_SIZE
	.cfi_offset lr, FRAME_PARENT_PC - FRAME_SIZE
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
	.endm

/*
 * Saves the registers that the traced function needs (C1) except lr, which it has pushed; ip is
 * free. Floating-point registers survive because the functions called from here do not use them.
 *
 * In: lr = rec->ip + 4, sp = the address of the pushed lr. Out: fp = the frame, sp = aligned below
 * it. The frame is in fp because functions that do not return, such as panic(), save no other
 * register for a backtrace.
 */
	.macro	save_state
	push	{r0-r3, fp, lr}
	unwind_frame sp
	mov	fp, sp
	.cfi_def_cfa_register fp
	bic	ip, fp, #4
	mov	sp, ip
	.endm

/* Reverses save_state, loads the pushed word into lr, and returns to the traced function. */
	.macro	restore_state_and_return
	mov	sp, fp
	.cfi_def_cfa_register sp
	pop	{r0-r3, fp, ip, lr}
	.cfi_def_cfa_offset 0
	.cfi_same_value fp
	.cfi_same_value lr
	.cfi_register COLUMN_PC, ip
	bx	ip
	.endm

/*
 * The tracer's r0 = ip = rec->ip and r1 = parent_ip (C2); bit 0 of lr stands for T32. In: the state
 * after save_state.
 */
	.macro	trace_arguments
	sub	r0, lr, #MCOUNT_INSN_SIZE + 1
	ldr	r1, [fp, #FRAME_PARENT_PC]
	.endm

/*
 * r0 = the address of the word pushed by the traced function, its return address unless it has
 * stored that, r1 = ip, r2 = its frame pointer (C4). In: the frame of save_state.
 */
	.macro	graph_arguments
	ldr	r1, [fp, #FRAME_PC]
	sub	r1, r1, #MCOUNT_INSN_SIZE + 1
	add	r0, fp, #FRAME_PARENT_PC
	mov	r2, r7
	.endm

/* Return without a tracer: pop lr, as a site that is off does. In: lr, sp = the site's. */
	.macro	return_to_site
	mov	ip, lr
	.cfi_register COLUMN_PC, ip
	pop	{lr}
	.cfi_def_cfa_offset 0
	.cfi_same_value lr
	bx	ip
	.endm

#ifdef CONFIG_DYNAMIC_FTRACE

/* __gnu_mcount_nc - called by all sites until ftrace_init() switches them off (C8) */
SYM_FUNC_START(__gnu_mcount_nc)
	.cfi_startproc
	unwind_entry
	return_to_site
	.cfi_endproc
SYM_FUNC_END(__gnu_mcount_nc)

/* ftrace_caller - called by a site that is on. A slot is changed by one store (C10, C11). */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	unwind_entry
	save_state
	trace_arguments

	.balign	4
SYM_INNER_LABEL(ftrace_call)		/* nop.w or `bl tracer` */
	nop.w

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)	/* nop.w or `b.w ftrace_graph_caller` */
	nop.w
#endif

	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller - the part of ftrace_caller that replaces the return address (C4) */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	unwind_entry
	unwind_frame fp
	graph_arguments
	bl	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#else /* !CONFIG_DYNAMIC_FTRACE */

/*
 * Go to \target unless the pointer \name is \stub. Only ip is free, so a word of the stack below sp
 * keeps r0.
 */
	.macro	branch_unless name, stub, target
	push	{r0}
	.cfi_adjust_cfa_offset 4
	ldr	ip, =\name
	ldr	ip, [ip]
	ldr	r0, =\stub
	cmp	ip, r0
	pop	{r0}
	.cfi_adjust_cfa_offset -4
	bne	\target
	.endm

/*
 * __gnu_mcount_nc - static: every site always calls it
 *
 * Without a tracer no branch is taken (C3).
 */
SYM_FUNC_START(__gnu_mcount_nc)
	.cfi_startproc
	unwind_entry
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	ldr	ip, =function_trace_stop
	ldr	ip, [ip]
	cmp	ip, #0
	bne	.Lmcount_return
#endif
	branch_unless ftrace_trace_function, ftrace_stub, ftrace_trace_caller
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
.Lmcount_graph:
	branch_unless ftrace_graph_return, ftrace_stub, ftrace_graph_caller
	branch_unless ftrace_graph_entry, ftrace_graph_entry_stub, ftrace_graph_caller
#endif
.Lmcount_return:
	return_to_site
	.cfi_endproc
SYM_FUNC_END(__gnu_mcount_nc)

/* ftrace_trace_caller - the "do_trace" of __gnu_mcount_nc; registers as there */
SYM_FUNC_START(ftrace_trace_caller)
	.cfi_startproc
	unwind_entry
	save_state
	trace_arguments
	ldr	ip, =ftrace_trace_function
	ldr	ip, [ip]
	blx	ip
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	mov	sp, fp
	.cfi_def_cfa_register sp
	pop	{r0-r3, fp, lr}
	.cfi_def_cfa_offset 4
	.cfi_same_value fp
	.cfi_register COLUMN_PC, lr
	b	.Lmcount_graph			/* both tracers can be active */
#else
	restore_state_and_return
#endif
	.cfi_endproc
SYM_FUNC_END(ftrace_trace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller - replace the return address (C4); registers as in __gnu_mcount_nc */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	unwind_entry
	save_state
	graph_arguments
	bl	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* ftrace_stub - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	bx	lr
SYM_FUNC_END(ftrace_stub)
