/* SPDX-License-Identifier: MIT */
/*
 * The riscv64 stubs of the function tracers, for both forms of call site (see asm/ftrace.h).
 *
 * psABI: a0..a7 are arguments, ra the return address, s0 the frame pointer: of a function that has
 * one, ra and its caller's s0 lie in the two words below s0. sp stays a multiple of 16.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/* The frame of the stubs, from sp up. */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define FRAME_A0	0
#define FRAME_T2	64		/* the static chain of nested functions */
#define FRAME_RECORD	80		/* the stub's frame record: it returns into the function, */
#define FRAME_PC	88
#define FRAME_FP	96		/* and the traced function's, which has none yet */
#define FRAME_PARENT_PC	104
#define FRAME_SIZE	112
#else
#define FRAME_FP	0		/* the stub's frame record */
#define FRAME_PC	8
#define FRAME_SIZE	16
#endif

/* Below s0 of a traced function of form mcount. */
#define RECORD_PC	-8
#define RECORD_FP	-16

/* The column that stands for pc where a stub has two return addresses: its own and, in t0 or at
 * FRAME_PARENT_PC, the traced function's, which will be in ra when the stub returns. */
#define COLUMN_PC	64

	.cfi_sections .eh_frame
	.text

	/* At the entry of a stub. */
	.macro	unwind_entry
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	.cfi_return_column COLUMN_PC
	.cfi_register COLUMN_PC, ra
	.cfi_register ra, t0
#endif
	.endm

	/* With the frame of save_state. */
	.macro	unwind_frame
	.cfi_def_cfa_offset FRAME_SIZE
	.cfi_offset s0, FRAME_FP - FRAME_SIZE
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	.cfi_offset ra, FRAME_PARENT_PC - FRAME_SIZE
	.cfi_offset COLUMN_PC, FRAME_PC - FRAME_SIZE
#else
	.cfi_offset ra, FRAME_PC - FRAME_SIZE
#endif
	.endm

/*
 * Saves the registers that the ABI requires (C1), and makes frame records for unwinders without
 * tables (C14). The compiler treats a call of _mcount like any other, and has saved a0..a7. At a
 * patchable entry there is no call for the compiler: a0..a7, t2 and ra are live. Floating-point
 * registers survive because the functions called from here do not use them.
 *
 * In, form mcount: ra = rec->ip + 4, s0 = the traced function's frame. Patchable entry: ra =
 * rec->ip + 8, t0 = the traced function's return address.
 */
	.macro	save_state
	addi	sp, sp, -FRAME_SIZE
	.cfi_def_cfa_offset FRAME_SIZE
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	sd	t0, FRAME_PARENT_PC(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	sd	a\n, FRAME_A0 + \n * 8(sp)
	.endr
	sd	t2, FRAME_T2(sp)
	addi	t2, sp, FRAME_SIZE
	sd	t2, FRAME_RECORD(sp)
#endif
	sd	ra, FRAME_PC(sp)
	sd	s0, FRAME_FP(sp)
	unwind_frame
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	addi	s0, sp, FRAME_FP
#else
	addi	s0, sp, FRAME_SIZE
#endif
	.endm

/* Reverses save_state and returns to the traced function. */
	.macro	restore_state_and_return
	ld	s0, FRAME_FP(sp)
	.cfi_same_value s0
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	ld	a\n, FRAME_A0 + \n * 8(sp)
	.endr
	ld	t2, FRAME_T2(sp)
	ld	t0, FRAME_PC(sp)
	ld	ra, FRAME_PARENT_PC(sp)
	.cfi_same_value ra
	.cfi_register COLUMN_PC, t0
	addi	sp, sp, FRAME_SIZE
	.cfi_def_cfa_offset 0
	jr	t0
#else
	ld	ra, FRAME_PC(sp)
	.cfi_restore ra
	addi	sp, sp, FRAME_SIZE
	.cfi_def_cfa_offset 0
	ret
#endif
	.endm

/* The tracer's a0 = ip = rec->ip and a1 = parent_ip (C2). In: the state after save_state. */
	.macro	trace_arguments
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	mv	a1, t0
#else
	ld	a1, FRAME_FP(sp)
	ld	a1, RECORD_PC(a1)
#endif
	addi	a0, ra, -MCOUNT_INSN_SIZE
	.endm

/*
 * a0 = the address of the traced function's return address, a1 = ip, a2 = its caller's frame
 * pointer (C4, C6). In: the frame of save_state.
 */
	.macro	graph_arguments
	ld	a1, FRAME_PC(sp)
	addi	a1, a1, -MCOUNT_INSN_SIZE
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	addi	a0, sp, FRAME_PARENT_PC
	ld	a2, FRAME_FP(sp)
#else
	ld	a0, FRAME_FP(sp)
	ld	a2, RECORD_FP(a0)
	addi	a0, a0, RECORD_PC
#endif
	.endm

#ifdef CONFIG_DYNAMIC_FTRACE

/* _mcount() - called by sites of form mcount until ftrace_init() makes them nops (C8) */
SYM_FUNC_START(_mcount)
	ret
SYM_FUNC_END(_mcount)

/* ftrace_caller() - called by a site that is on. Both slots are one word (C10, C11). */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	unwind_entry
	save_state
	trace_arguments

	.balign	4
	.option	push
	.option	norvc
SYM_INNER_LABEL(ftrace_call)		/* nop or `jal tracer` */
	nop

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)	/* nop or `j ftrace_graph_caller` */
	nop
#endif
	.option	pop

	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller() - the part of ftrace_caller() that hijacks the return address (C4) */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	unwind_entry
	unwind_frame
	graph_arguments
	call	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#else /* !CONFIG_DYNAMIC_FTRACE */

	/* Branch to \target with t1 = the pointer \name, unless that is \stub. Uses t2. */
	.macro	branch_unless_stub name, stub, target
	ld	t1, \name
	la	t2, \stub
	bne	t1, t2, \target
	.endm

/*
 * _mcount() - static: every site always calls it
 *
 * Without a tracer no branch is taken (C3) and nothing is saved.
 */
SYM_FUNC_START(_mcount)
	.cfi_startproc
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	lw	t1, function_trace_stop
	bnez	t1, .Lmcount_return
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

/* ftrace_trace_caller() - _mcount's "do_trace"; t1 = the tracer, the rest as in _mcount. */
SYM_FUNC_START(ftrace_trace_caller)
	.cfi_startproc
	save_state
	trace_arguments
	jalr	t1
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	ld	s0, FRAME_FP(sp)
	.cfi_same_value s0
	ld	ra, FRAME_PC(sp)
	.cfi_restore ra
	addi	sp, sp, FRAME_SIZE
	.cfi_def_cfa_offset 0
	j	.Lmcount_graph			/* both tracers may be on */
#else
	restore_state_and_return
#endif
	.cfi_endproc
SYM_FUNC_END(ftrace_trace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller() - hijack the return address (C4); registers as in _mcount */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	save_state
	graph_arguments
	call	prepare_ftrace_return
	restore_state_and_return
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* ftrace_stub() - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)
