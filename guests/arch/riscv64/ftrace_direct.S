/* SPDX-License-Identifier: MIT */
/*
 * Trampolines for tests of direct calls. One is entered as if the call site had called it: ra =
 * behind the site, t0 = the traced function's return address, a0..a7, t2 and s0 = the function's,
 * sp as there.
 */
#include <linux/linkage.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

	.macro	direct_tramp name, calls
SYM_FUNC_START(\name)
	la	t1, \calls
	ld	t3, 0(t1)
	addi	t3, t3, 1
	sd	t3, 0(t1)
	mv	t1, ra
	mv	ra, t0
	jr	t1
SYM_FUNC_END(\name)
	.endm

	.text
	direct_tramp ftrace_direct_tramp, ftrace_direct_calls
	direct_tramp ftrace_other_direct_tramp, ftrace_other_direct_calls

#endif
