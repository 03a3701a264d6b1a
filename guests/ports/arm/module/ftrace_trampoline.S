/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. bl does not reach the stubs from there, so its call sites call these
 * trampolines, one for each target (C9p). In the module, __gnu_mcount_nc is the name of the
 * trampoline. All registers are preserved.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	.syntax unified

	/* \target is in the kernel; the linker fills in its address. pc reads 8 bytes ahead. */
	.macro	trampoline name, target
	.balign	4
SYM_FUNC_START(\name)
	ldr	pc, [pc, #-4]
	.long	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	trampoline __gnu_mcount_nc, vmlinux.__gnu_mcount_nc
#ifdef CONFIG_DYNAMIC_FTRACE
	trampoline ftrace_trampoline, vmlinux.ftrace_caller
#endif
