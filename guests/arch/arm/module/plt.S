/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module of a port that is written for Linux's PLTs, which Linux makes when it
 * loads a module: entries for what its bl does not reach. No register changes.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/* Linux's asm/ftrace.h. Other ports bring trampolines of their own. */
#ifdef _ASM_ARM_FTRACE

	.syntax unified

	/*
	 * \target is the kernel's. pc is ahead: of the load by one instruction in T32, in A32 by
	 * two.
	 */
	.macro	plt_entry name, target
	.balign	4
SYM_FUNC_START(\name)
#ifdef __thumb__
	ldr	pc, [pc]
#else
	ldr	pc, [pc, #-4]
#endif
	.long	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	plt_entry __gnu_mcount_nc, vmlinux.__gnu_mcount_nc
#ifdef CONFIG_DYNAMIC_FTRACE
	plt_entry ftrace_trampoline, vmlinux.ftrace_caller
#endif

#endif
