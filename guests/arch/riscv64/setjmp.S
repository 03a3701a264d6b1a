/* SPDX-License-Identifier: MIT */
/*
 * setjmp and longjmp: the registers that a call preserves (psABI), and the number of return
 * addresses that the graph tracer has replaced: functions that longjmp leaves do not return.
 * a0 = jmp_buf, a1 = value.
 */
#include <linux/linkage.h>
#include <linux/threads.h>

	.macro	each load_or_store, float
	\load_or_store	ra, 0(a0)
	\load_or_store	sp, 8(a0)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\load_or_store	s\n, 16 + \n * 8(a0)
	\float	fs\n, 112 + \n * 8(a0)
	.endr
	.endm

	.text
SYM_FUNC_START(setjmp)
	lw	t0, THREAD_CURR_RET_STACK(tp)
	each	sd, fsd
	sw	t0, 208(a0)
	li	a0, 0
	ret
SYM_FUNC_END(setjmp)

SYM_FUNC_START(longjmp)
	lw	t0, 208(a0)
	sw	t0, THREAD_CURR_RET_STACK(tp)
	each	ld, fld
	mv	a0, a1
	bnez	a0, 1f
	li	a0, 1				/* setjmp never returns 0 a second time */
1:	ret
SYM_FUNC_END(longjmp)
