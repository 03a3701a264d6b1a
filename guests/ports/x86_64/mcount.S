/* SPDX-License-Identifier: MIT */
/*
 * The x86-64 stubs of the function tracers (see asm/ftrace.h for the call site).
 *
 * A site is the first instruction of a function: rdi, rsi, rdx, rcx, r8 and r9 are arguments, al is
 * the number of vector registers, rbp is the caller's, and the word at rsp is the return address,
 * which is at 8(%rsp) after the site's call. In a stub rsp is a multiple of 16. No function has a
 * static chain (port.toml).
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/*
 * The frame of the stubs, from rsp up. Its two records are for unwinders without tables: the stub's
 * own, which returns into the traced function, and that of the function, which has none yet.
 */
#define FRAME_SAVED	0		/* rax, rcx, rdx, rsi, rdi, r8, r9 and a free word */
#define FRAME_RECORD	64		/* the address of FRAME_RBP, */
#define FRAME_RECORD_PC	72		/* a copy of FRAME_PC, */
#define FRAME_RBP	80
#define FRAME_RBP_PC	88		/* a copy of FRAME_PARENT_PC */
#define FRAME_SIZE	96
#define FRAME_PC	96		/* rec->ip + MCOUNT_INSN_SIZE: pushed by the site */
#define FRAME_PARENT_PC	104		/* pushed by the traced function's caller */

	.cfi_sections .eh_frame
	.text

/*
 * Saves the registers that the ABI requires (C1), and makes frame records (C14). There is no call
 * for the compiler here: all arguments are live. Vector registers survive because the functions
 * called from here do not use them.
 */
	.macro	save_state
	subq	$FRAME_SIZE, %rsp
	.cfi_adjust_cfa_offset FRAME_SIZE
	movq	%rax, FRAME_SAVED(%rsp)
	movq	%rcx, FRAME_SAVED + 8(%rsp)
	movq	%rdx, FRAME_SAVED + 16(%rsp)
	movq	%rsi, FRAME_SAVED + 24(%rsp)
	movq	%rdi, FRAME_SAVED + 32(%rsp)
	movq	%r8, FRAME_SAVED + 40(%rsp)
	movq	%r9, FRAME_SAVED + 48(%rsp)
	movq	%rbp, FRAME_RBP(%rsp)
	.cfi_rel_offset rbp, FRAME_RBP
	movq	FRAME_PC(%rsp), %rdi
	movq	FRAME_PARENT_PC(%rsp), %rsi
	movq	%rdi, FRAME_RECORD_PC(%rsp)
	movq	%rsi, FRAME_RBP_PC(%rsp)
	leaq	FRAME_RBP(%rsp), %rbp
	movq	%rbp, FRAME_RECORD(%rsp)
	leaq	FRAME_RECORD(%rsp), %rbp
	.endm

/* Reverses save_state. */
	.macro	restore_state
	movq	FRAME_SAVED(%rsp), %rax
	movq	FRAME_SAVED + 8(%rsp), %rcx
	movq	FRAME_SAVED + 16(%rsp), %rdx
	movq	FRAME_SAVED + 24(%rsp), %rsi
	movq	FRAME_SAVED + 32(%rsp), %rdi
	movq	FRAME_SAVED + 40(%rsp), %r8
	movq	FRAME_SAVED + 48(%rsp), %r9
	movq	FRAME_RBP(%rsp), %rbp
	.cfi_same_value rbp
	addq	$FRAME_SIZE, %rsp
	.cfi_adjust_cfa_offset -FRAME_SIZE
	.endm

/* With the frame of save_state, at the entry of a part of a stub. */
	.macro	unwind_frame
	.cfi_adjust_cfa_offset FRAME_SIZE
	.cfi_rel_offset rbp, FRAME_RBP
	.endm

/* The tracer's rdi = ip = rec->ip and rsi = parent_ip (C2). In: the state after save_state. */
	.macro	trace_arguments
	subq	$MCOUNT_INSN_SIZE, %rdi
	.endm

/*
 * rdi = the address of the traced function's return address, rsi = ip, rdx = rdi as the frame
 * pointer: it is unique among all calls that have not returned (C4, C6). In: the frame of
 * save_state.
 */
	.macro	graph_arguments
	leaq	FRAME_PARENT_PC(%rsp), %rdi
	movq	FRAME_PC(%rsp), %rsi
	subq	$MCOUNT_INSN_SIZE, %rsi
	movq	%rdi, %rdx
	.endm

#ifdef CONFIG_DYNAMIC_FTRACE

/* __fentry__() - called by all sites until ftrace_init() makes them nops (C8) */
SYM_FUNC_START(__fentry__)
	ret
SYM_FUNC_END(__fentry__)

/* ftrace_caller() - called by a site that is on. Both slots have five bytes (C10, C11). */
SYM_FUNC_START(ftrace_caller)
	.cfi_startproc
	save_state
	trace_arguments

SYM_INNER_LABEL(ftrace_call)		/* nop or `call tracer` */
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.Lbehind_ftrace_call:

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(ftrace_graph_call)	/* nop or `jmp ftrace_graph_caller` */
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
#endif

	restore_state
	ret

	/* Instead of ftrace_call while that is changed, so that no call is lost (C10). */
	unwind_frame
SYM_INNER_LABEL(ftrace_call_meanwhile)
	call	*ftrace_next_tracer
	jmp	.Lbehind_ftrace_call
	.cfi_endproc
SYM_FUNC_END(ftrace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller() - the part of ftrace_caller() that hijacks the return address (C4) */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	unwind_frame
	graph_arguments
	call	prepare_ftrace_return
	restore_state
	ret
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#else /* !CONFIG_DYNAMIC_FTRACE */

	/* Branch to \target unless the pointer \name is \stub. Addresses are below 2 GiB. */
	.macro	branch_unless_stub name, stub, target
	cmpq	$\stub, \name
	jne	\target
	.endm

/*
 * __fentry__() - static: every site always calls it
 *
 * Without a tracer no branch is taken (C3) and nothing is saved.
 */
SYM_FUNC_START(__fentry__)
	.cfi_startproc
#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
	cmpl	$0, function_trace_stop
	jne	.Lfentry_return
#endif
	branch_unless_stub ftrace_trace_function, ftrace_stub, ftrace_trace_caller
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
.Lfentry_graph:
	branch_unless_stub ftrace_graph_return, ftrace_stub, ftrace_graph_caller
	branch_unless_stub ftrace_graph_entry, ftrace_graph_entry_stub, ftrace_graph_caller
#endif
.Lfentry_return:
	ret
	.cfi_endproc
SYM_FUNC_END(__fentry__)

/* ftrace_trace_caller() - __fentry__'s "do_trace"; registers as there */
SYM_FUNC_START(ftrace_trace_caller)
	.cfi_startproc
	save_state
	trace_arguments
	call	*ftrace_trace_function
	restore_state
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	jmp	.Lfentry_graph			/* both tracers may be on */
#else
	ret
#endif
	.cfi_endproc
SYM_FUNC_END(ftrace_trace_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_graph_caller() - hijack the return address (C4); registers as in __fentry__ */
SYM_FUNC_START(ftrace_graph_caller)
	.cfi_startproc
	save_state
	graph_arguments
	call	prepare_ftrace_return
	restore_state
	ret
	.cfi_endproc
SYM_FUNC_END(ftrace_graph_caller)
#endif

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* ftrace_stub() - the tracer that does nothing; its address means "no tracer". */
SYM_FUNC_START(ftrace_stub)
	ret
SYM_FUNC_END(ftrace_stub)
