/* SPDX-License-Identifier: MIT */
/* The assembly part of user programs. */
#include <asm/segment.h>
#include <linux/linkage.h>

	.text
/*
 * user_syscall() - rdi = number, rsi, rdx, rcx, r8, r9 and the word above the return address =
 * arguments; out: rax = result or negative error number
 */
SYM_FUNC_START(user_syscall)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	movq	8(%rsp), %r9
	int	$USER_CALL_VECTOR
	ret
SYM_FUNC_END(user_syscall)

	/* The linker asks x86 files for it. */
	.section .note.GNU-stack, "", @progbits
