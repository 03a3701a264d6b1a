/* SPDX-License-Identifier: MIT */
/* The assembly part of user programs. */
#include <linux/linkage.h>

	.syntax unified

	.text
/* user_syscall - number and six arguments, as a C function; out: r0 = result or negative error */
SYM_FUNC_START(user_syscall)
	push	{r4, r5, r7, lr}
	mov	r7, r0
	mov	r0, r1
	mov	r1, r2
	mov	r2, r3
	ldr	r3, [sp, #16]
	ldr	r4, [sp, #20]
	ldr	r5, [sp, #24]
	svc	#0
	pop	{r4, r5, r7, pc}
SYM_FUNC_END(user_syscall)
