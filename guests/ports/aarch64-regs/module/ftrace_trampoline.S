/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. bl does not reach the stubs from there, so the module's call sites call
 * these trampolines, one for each stub (C9p, C21e).
 *
 * x16 may be changed by every call, and with BTI `br x16` may branch to a landing pad for calls.
 * All other registers are preserved.
 */
#include <linux/linkage.h>

	/* \target is in the kernel; the linker fills in its address. */
	.macro	trampoline name, target
	.balign	8
SYM_FUNC_START(\name)
	hint	#34				/* bti c, for calls through pointers */
	ldr	x16, 1f
	br	x16
	.balign	8
1:	.quad	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	trampoline ftrace_trampoline, vmlinux.ftrace_caller
	trampoline ftrace_regs_trampoline, vmlinux.ftrace_regs_caller
