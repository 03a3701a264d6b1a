/* SPDX-License-Identifier: MIT */
/*
 * Trampolines for tests of direct calls. One is entered as if the call site had called it: x30 =
 * behind the site, x9 = the traced function's return address, x0..x8 and x29 = the function's, sp
 * as there.
 */
#include <linux/linkage.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

	.macro	direct_tramp name, calls
SYM_FUNC_START(\name)
	hint	#34				/* bti c, for `br x17` */
	adrp	x10, \calls
	add	x10, x10, #:lo12:\calls
	ldr	x11, [x10]
	add	x11, x11, #1
	str	x11, [x10]
	mov	x10, x30
	mov	x30, x9
	ret	x10
SYM_FUNC_END(\name)
	.endm

	.text
	direct_tramp ftrace_direct_tramp, ftrace_direct_calls
	direct_tramp ftrace_other_direct_tramp, ftrace_other_direct_calls

#endif
