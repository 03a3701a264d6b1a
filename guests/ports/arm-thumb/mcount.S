/* SPDX-License-Identifier: MIT */
/*
 * The arm stubs of the function tracers in T32 (see asm/ftrace.h).
 *
 * AAPCS: r0..r3 are arguments, lr the return address, sp a multiple of 8 where a function is called
 * that others may see; a leaf does not keep to that, and its call of __gnu_mcount_nc neither. r7 is
 * the frame pointer of gcc, and says nothing about where lr is stored; the tables do.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	.syntax unified

/* The frame of the stubs, from fp up: r0..r3, the traced function's fp, the address to return to, and
 * behind that what the traced function has pushed: its own return address. */
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

	/* With the frame that save_state makes, at \base. */
	.macro	unwind_frame base
	.cfi_def_cfa \base, FRAME_SIZE
	.cfi_offset fp, FRAME_FP - FRAME_SIZE
	.cfi_offset lr, FRAME_PARENT_PC - FRAME_SIZE
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
	.endm

/*
 * Saves what the traced function may not lose (C1) but lr, which it has pushed itself; ip is free.
 * Floating-point registers survive because what is called from here has no floating point.
 *
 * In: lr = rec->ip + 4, sp = where lr was pushed to. Out: fp = the frame, sp = aligned below it. It is
 * fp because functions that do not return, such as panic(), keep no other register for a backtrace.
 */
	.macro	save_state
	push	{r0-r3, fp, lr}
	unwind_frame sp
	mov	fp, sp
	.cfi_def_cfa_register fp
	bic	ip, fp, #4
	mov	sp, ip
	.endm

/* Undoes save_state, puts the pushed word into lr, and continues in the traced function. */
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

/* The tracer's r0 = ip = rec->ip and r1 = parent_ip (C2); bit 0 of lr stands for T32. In: as save_state leaves it. */
	.macro	trace_arguments
	sub	r0, lr, #MCOUNT_INSN_SIZE + 1
	ldr	r1, [fp, #FRAME_PARENT_PC]
	.endm

/*
 * r0 = where the word is that the traced function has pushed, its return address unless it has stored
 * that, r1 = ip, r2 = its frame pointer (C4). In: the frame that save_state made.
 */
	.macro	graph_arguments
	ldr	r1, [fp, #FRAME_PC]
	sub	r1, r1, #MCOUNT_INSN_SIZE + 1
	add	r0, fp, #FRAME_PARENT_PC
	mov	r2, r7
	.endm

/* A return without a tracer: what a site does that is off, and back. In: lr, sp as the site left. */
	.macro	return_to_site
	mov	ip, lr
	.cfi_register COLUMN_PC, ip
	pop	{lr}
	.cfi_def_cfa_offset 0
	.cfi_same_value lr
	bx	ip
	.endm

#ifdef CONFIG_DYNAMIC_FTRACE

/* __gnu_mcount_nc - what call sites call before ftrace_init() has disabled them (C8) */
SYM_FUNC_START(__gnu_mcount_nc)
	.cfi_startproc
	unwind_entry
	return_to_site
	.cfi_endproc
SYM_FUNC_END(__gnu_mcount_nc)

/* ftrace_caller - what an enabled site calls. Each slot is one word, changed by one store (C10, C11). */
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
 * __gnu_mcount_nc - the static tracer: every site calls it, always
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

/* ftrace_stub - the tracer that does nothing; its address stands for "no tracer". */
SYM_FUNC_START(ftrace_stub)
	bx	lr
SYM_FUNC_END(ftrace_stub)
