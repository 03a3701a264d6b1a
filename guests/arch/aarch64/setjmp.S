/* SPDX-License-Identifier: MIT */
/*
 * setjmp and longjmp: save the callee-saved registers of AAPCS64 and the depth of the graph
 * tracer's return stack, because functions skipped by longjmp do not return. x0 = jmp_buf, w1 =
 * value.
 */
#include <linux/linkage.h>
#include <linux/threads.h>

SYM_FUNC_START(setjmp)
	hint	#34			/* bti c */
	mov	x2, sp
	mrs	x3, sp_el0		/* the thread */
	ldr	w3, [x3, #THREAD_CURR_RET_STACK]
	stp	x19, x20, [x0, #0]
	stp	x21, x22, [x0, #16]
	stp	x23, x24, [x0, #32]
	stp	x25, x26, [x0, #48]
	stp	x27, x28, [x0, #64]
	stp	x29, x30, [x0, #80]
	str	x2, [x0, #96]
	stp	d8, d9, [x0, #104]
	stp	d10, d11, [x0, #120]
	stp	d12, d13, [x0, #136]
	stp	d14, d15, [x0, #152]
	str	w3, [x0, #168]
	mov	w0, #0
	ret
SYM_FUNC_END(setjmp)

SYM_FUNC_START(longjmp)
	hint	#34			/* bti c */
	ldr	w2, [x0, #168]
	mrs	x3, sp_el0
	str	w2, [x3, #THREAD_CURR_RET_STACK]
	ldp	x19, x20, [x0, #0]
	ldp	x21, x22, [x0, #16]
	ldp	x23, x24, [x0, #32]
	ldp	x25, x26, [x0, #48]
	ldp	x27, x28, [x0, #64]
	ldp	x29, x30, [x0, #80]
	ldr	x2, [x0, #96]
	ldp	d8, d9, [x0, #104]
	ldp	d10, d11, [x0, #120]
	ldp	d12, d13, [x0, #136]
	ldp	d14, d15, [x0, #152]
	mov	sp, x2
	cmp	w1, #0			/* setjmp never returns 0 a second time */
	csinc	w0, w1, wzr, ne
	ret
SYM_FUNC_END(longjmp)
