/* SPDX-License-Identifier: MIT */
/*
 * A part of every module. Its jal does not reach the stubs, so its call sites go through here, one
 * trampoline for each target (C9p). In the module, _mcount is the name of the trampoline. t1 is for
 * that: ra and t0, in which the site left its addresses, stay.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

	/* \target is the kernel's; the linker fills in its address. */
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
