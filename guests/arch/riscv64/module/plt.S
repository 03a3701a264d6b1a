/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module of a port that is written for Linux's PLTs, which Linux makes when it
 * loads a module: the entry for _mcount, which jal does not reach from there. t1 changes, as by any
 * call.
 */
#include <asm/ftrace.h>
#include <linux/linkage.h>

/* Linux's asm/ftrace.h. Other ports bring trampolines of their own. */
#if defined(_ASM_RISCV_FTRACE_H) && !defined(CONFIG_DYNAMIC_FTRACE)

	.section .text.ftrace_trampoline, "ax"
	.balign	8
SYM_FUNC_START(_mcount)
	.option	push
	.option	norvc
	auipc	t1, 0
	ld	t1, 16(t1)
	jr	t1
	nop
	.option	pop
	.quad	vmlinux._mcount
SYM_FUNC_END(_mcount)

#endif
