/* SPDX-License-Identifier: MIT */
/* The part of a user program that is not C. */
#include <asm/unistd.h>
#include <linux/linkage.h>

	.text
/* _start() - sp is set; main()'s result goes to exit() */
SYM_FUNC_START(_start)
	mov	x29, xzr
	mov	x30, xzr
	bl	main
	mov	x8, #__NR_exit
	svc	#0
SYM_FUNC_END(_start)

/* syscall() - x0 = number, x1..x6 = arguments; out: x0 = result or negative error number */
SYM_FUNC_START(syscall)
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
SYM_FUNC_END(syscall)
