/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module of a port that is written for Linux's PLTs: entries for the stubs, which
 * bl does not reach from there. Linux makes them when it loads a module, here the linker does. x16
 * may be changed by every call; all other registers are preserved.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

#if defined(CONFIG_DYNAMIC_FTRACE) && defined(NR_FTRACE_PLTS)

	/* struct plt_entry; \target is in the kernel, or 0 if there is none. */
	.macro	plt_entry name, target
	.weak	\target
SYM_FUNC_START(\name)
	ldr	x16, 1f
	br	x16
1:	.quad	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	.balign	16
	plt_entry ftrace_trampoline, vmlinux.ftrace_caller
	plt_entry ftrace_regs_trampoline, vmlinux.ftrace_regs_caller

#endif
