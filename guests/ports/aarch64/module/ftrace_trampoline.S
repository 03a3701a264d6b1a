/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. bl does not reach the stubs from there, so its call sites call these
 * trampolines, one for each target (C9p). In the module, _mcount is the name of the trampoline.
 *
 * x16 may be changed by every call, and with BTI `br x16` may branch to a landing pad for calls.
 * x30 and x9, with the site's addresses, are preserved.
 */
#include <asm/ftrace.h>
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
	trampoline _mcount, vmlinux._mcount
#ifdef CONFIG_DYNAMIC_FTRACE
	trampoline ftrace_trampoline, vmlinux.ftrace_caller
#endif
