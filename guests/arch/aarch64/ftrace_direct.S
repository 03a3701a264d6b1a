/* SPDX-License-Identifier: MIT */
/*
 * A trampoline for tests of direct calls. It is entered as if the call site had called it: x30 = behind
 * the site, x9 = the traced function's return address, x0..x8 and x29 = the function's, sp as there.
 */
#include <linux/linkage.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

	.text
SYM_FUNC_START(ftrace_direct_tramp)
	hint	#34				/* bti c, for `br x17` */
	adrp	x10, ftrace_direct_calls
	add	x10, x10, #:lo12:ftrace_direct_calls
	ldr	x11, [x10]
	add	x11, x11, #1
	str	x11, [x10]
	mov	x10, x30
	mov	x30, x9
	ret	x10
SYM_FUNC_END(ftrace_direct_tramp)

#endif
