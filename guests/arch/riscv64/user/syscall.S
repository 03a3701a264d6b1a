/* SPDX-License-Identifier: MIT */
/* The assembly part of user programs. */
#include <linux/linkage.h>

	.text
/* user_syscall() - a0 = number, a1..a6 = arguments; out: a0 = result or negative error number */
SYM_FUNC_START(user_syscall)
	mv	a7, a0
	mv	a0, a1
	mv	a1, a2
	mv	a2, a3
	mv	a3, a4
	mv	a4, a5
	mv	a5, a6
	ecall
	ret
SYM_FUNC_END(user_syscall)
