/* SPDX-License-Identifier: MIT */
/* Switching of threads. */
#include <asm/segment.h>
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

	.text
/*
 * __switch_to() - see linux/arch.h
 *
 * In: rdi = prev, rsi = next; interrupts masked. Out, in the thread next: rax = prev.
 *
 * An NMI may come at any instruction: rsp is one of the two stacks throughout, and `current` one of
 * the two threads.
 */
SYM_FUNC_START(__switch_to)
	.cfi_startproc
	movq	%rdi, %r8
	addq	$THREAD_CONTEXT, %r8		/* thread.c */
	movq	%rsi, %r9
	addq	$THREAD_CONTEXT, %r9
	popq	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, r10
	movq	%r10, THREAD_PC(%r8)
	movq	%r10, THREAD_RA(%r8)
	movq	%rsp, THREAD_SP(%r8)
	movq	%rbx, THREAD_RBX(%r8)
	movq	%rbp, THREAD_RBP(%r8)
	movq	%r12, THREAD_R12(%r8)
	movq	%r13, THREAD_R13(%r8)
	movq	%r14, THREAD_R14(%r8)
	movq	%r15, THREAD_R15(%r8)
	fxsave64 THREAD_FX(%r8)

	movl	%esi, %eax
	movq	%rsi, %rdx
	shrq	$32, %rdx
	movl	$MSR_GS_BASE, %ecx
	wrmsr					/* current */
	fxrstor64 THREAD_FX(%r9)
	movq	THREAD_RBX(%r9), %rbx
	movq	THREAD_RBP(%r9), %rbp
	movq	THREAD_R12(%r9), %r12
	movq	THREAD_R13(%r9), %r13
	movq	THREAD_R14(%r9), %r14
	movq	THREAD_R15(%r9), %r15
	movq	THREAD_PC(%r9), %r10
	movq	THREAD_SP(%r9), %rsp
	movq	%rdi, %rax
	jmp	*%r10
	.cfi_endproc
SYM_FUNC_END(__switch_to)
