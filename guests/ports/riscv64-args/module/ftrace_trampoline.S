/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. jal does not reach the stub from there, so the module's call sites call
 * this trampoline (C9p). t1 is changed: ra and t0, in which the site left its addresses, and all
 * arguments are preserved.
 */
#include <linux/linkage.h>

	.section .text.ftrace_trampoline, "ax"
	.balign	8
SYM_FUNC_START(ftrace_trampoline)
	auipc	t1, 0
	ld	t1, 16(t1)
	jr	t1
	nop
	.quad	vmlinux.ftrace_caller		/* in the kernel; the linker fills in its address */
SYM_FUNC_END(ftrace_trampoline)
