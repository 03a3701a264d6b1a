/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. jal does not reach the stubs from there, so the module's call sites
 * call these trampolines, one for each stub (C9p, C21e). t1 is changed: ra and t0, in which the
 * site left its addresses, and all arguments are preserved.
 */
#include <linux/linkage.h>

	/* \target is in the kernel; the linker fills in its address. */
	.macro	trampoline name, target
	.balign	8
SYM_FUNC_START(\name)
	auipc	t1, 0
	ld	t1, 16(t1)
	jr	t1
	nop
	.quad	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	trampoline ftrace_trampoline, vmlinux.ftrace_caller
	trampoline ftrace_regs_trampoline, vmlinux.ftrace_regs_caller
