/* SPDX-License-Identifier: MIT */
/*
 * A part of every module. Its bl does not reach the stubs, so its call sites go through here, one
 * trampoline for each target (C9p). In the module, _mcount is the name of the trampoline.
 *
 * x16 is for that: no caller expects it to survive a call, and BTI lets a br through it land where
 * calls land. x30 and x9, in which the site left its addresses, stay.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	/* \target is the kernel's; the linker fills in its address. */
	.macro	trampoline name, target
	.balign	8
SYM_FUNC_START(\name)
	hint	#34				/* bti c, in case someone has its address */
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
