/* SPDX-License-Identifier: MIT */
/*
 * setjmp and longjmp: the registers that a call preserves (psABI), and the number of return
 * addresses that the graph tracer has replaced: functions that longjmp leaves do not return.
 * rdi = jmp_buf, esi = value.
 */
#include <linux/linkage.h>
#include <linux/threads.h>

	.text
SYM_FUNC_START(setjmp)
	movl	%gs:THREAD_CURR_RET_STACK, %eax
	movq	%rbx, (%rdi)
	movq	%rbp, 8(%rdi)
	movq	%r12, 16(%rdi)
	movq	%r13, 24(%rdi)
	movq	%r14, 32(%rdi)
	movq	%r15, 40(%rdi)
	popq	%rdx
	movq	%rsp, 48(%rdi)
	movq	%rdx, 56(%rdi)
	movl	%eax, 64(%rdi)
	xorl	%eax, %eax
	jmp	*%rdx
SYM_FUNC_END(setjmp)

SYM_FUNC_START(longjmp)
	movl	64(%rdi), %eax
	movl	%eax, %gs:THREAD_CURR_RET_STACK
	movq	(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %r12
	movq	24(%rdi), %r13
	movq	32(%rdi), %r14
	movq	40(%rdi), %r15
	movq	48(%rdi), %rsp
	movq	56(%rdi), %rdx
	movl	%esi, %eax
	testl	%eax, %eax
	jnz	1f
	incl	%eax				/* setjmp never returns 0 a second time */
1:	jmp	*%rdx
SYM_FUNC_END(longjmp)
