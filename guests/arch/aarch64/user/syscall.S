/* SPDX-License-Identifier: MIT */
/* The assembly part of user programs. */
#include <linux/linkage.h>

	.text
/* user_syscall - x0 = number, x1..x6 = arguments; out: x0 = result or negative error number */
SYM_FUNC_START(user_syscall)
	hint	#34			/* bti c */
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	#0
	ret
SYM_FUNC_END(user_syscall)
