/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. jal does not reach the stubs from there, so its call sites call these
 * trampolines, one for each target (C9p). In the module, _mcount is the name of the trampoline. t1
 * is changed: ra and t0, in which the site left its addresses, are preserved.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	/* \target is in the kernel; the linker fills in its address. */
	.macro	trampoline name, target
	.balign	8
SYM_FUNC_START(\name)
	.option	push
	.option	norvc
	auipc	t1, 0
	ld	t1, 16(t1)
	jr	t1
	nop
	.option	pop
	.quad	\target
SYM_FUNC_END(\name)
	.endm

	.section .text.ftrace_trampoline, "ax"
	trampoline _mcount, vmlinux._mcount
#ifdef CONFIG_DYNAMIC_FTRACE
	trampoline ftrace_trampoline, vmlinux.ftrace_caller
#endif
