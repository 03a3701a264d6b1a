/* SPDX-License-Identifier: MIT */
/* Hijacked functions return here. */
#include <linux/linkage.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* The frame, from rsp up: rax and rdx, xmm0 and xmm1, and room for the original return address. */
#define FRAME_RAX	0
#define FRAME_RDX	8
#define FRAME_XMM0	16
#define FRAME_XMM1	32
#define FRAME_PC	72
#define FRAME_SIZE	80

	.cfi_sections .eh_frame
	.text

/*
 * An unwinder looks up a return address by the byte before it, in the call instruction. So the
 * unwind information begins before the function. It marks the outermost frame, until the original
 * return address has been read from the thread's ret_stack.
 */
	.type	return_to_handler_landing, @function
return_to_handler_landing:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_undefined rip
	nop
	.size	return_to_handler_landing, . - return_to_handler_landing

/*
 * return_to_handler() - report the return, then return to the caller (C5)
 *
 * In: rax, rdx, xmm0 and xmm1 = the function's result by the psABI, which all survive (a long
 * double stays in the x87, which is not used here); rsp = a multiple of 16, and the saved registers
 * = the caller's. The frame pointer is the address of the word that held the return address (C6).
 */
SYM_FUNC_START(return_to_handler)
	subq	$FRAME_SIZE, %rsp
	.cfi_def_cfa_offset FRAME_SIZE
	movq	%rax, FRAME_RAX(%rsp)
	movq	%rdx, FRAME_RDX(%rsp)
	movdqu	%xmm0, FRAME_XMM0(%rsp)
	movdqu	%xmm1, FRAME_XMM1(%rsp)
	leaq	FRAME_PC(%rsp), %rdi
	call	ftrace_return_to_handler
	.cfi_register rip, rax
	movq	%rax, FRAME_PC(%rsp)
	.cfi_offset rip, FRAME_PC - FRAME_SIZE
	movq	FRAME_RAX(%rsp), %rax
	movq	FRAME_RDX(%rsp), %rdx
	movdqu	FRAME_XMM0(%rsp), %xmm0
	movdqu	FRAME_XMM1(%rsp), %xmm1
	addq	$FRAME_PC, %rsp
	.cfi_def_cfa_offset FRAME_SIZE - FRAME_PC
	ret
	.cfi_endproc
SYM_FUNC_END(return_to_handler)

#endif
