/* SPDX-License-Identifier: MIT */
/*
 * A part of every module. Its jal does not reach the stub, so its call sites go through here (C9p).
 * t1 is for that: ra and t0, in which the site left its addresses, and all arguments stay.
 */
#include <linux/linkage.h>

	.section .text.ftrace_trampoline, "ax"
	.balign	8
SYM_FUNC_START(ftrace_trampoline)
	auipc	t1, 0
	ld	t1, 16(t1)
	jr	t1
	nop
	.quad	vmlinux.ftrace_caller		/* the kernel's; the linker fills in its address */
SYM_FUNC_END(ftrace_trampoline)
