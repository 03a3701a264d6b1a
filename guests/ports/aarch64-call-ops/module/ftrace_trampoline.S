/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. bl does not reach the stub from there, so the module's call sites call
 * this trampoline (C9p).
 *
 * x16 may be changed by every call, and with BTI `br x16` may branch to a landing pad for calls.
 * x30 and x9, with the site's addresses, are preserved, and so are x0..x8.
 */
#include <linux/linkage.h>

	.section .text.ftrace_trampoline, "ax"
	.balign	8
SYM_FUNC_START(ftrace_trampoline)
	hint	#34				/* bti c, for calls through pointers */
	ldr	x16, 1f
	br	x16
	.balign	8
1:	.quad	vmlinux.ftrace_caller		/* in the kernel; the linker fills in its address */
SYM_FUNC_END(ftrace_trampoline)
