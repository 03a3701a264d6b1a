/* SPDX-License-Identifier: MIT */
/*
 * setjmp and longjmp: save the callee-saved registers of the AAPCS and the depth of the graph
 * tracer's return stack, because functions skipped by longjmp do not return. r0 = jmp_buf, r1 =
 * value; r2, r3 and ip are scratch.
 */
#include <linux/linkage.h>
#include <linux/threads.h>

	.syntax unified

#define JMP_SP		32
#define JMP_LR		36
#define JMP_D(n)	(40 + ((n) - 8) * 8)
#define JMP_DEPTH	104

	.macro	each core, float
	.irp	n, 4, 5, 6, 7, 8, 9, 10, 11
	\core	r\n, [r0, #(\n - 4) * 4]
	.endr
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	\float	d\n, [r0, #JMP_D(\n)]
	.endr
	\core	lr, [r0, #JMP_LR]
	.endm

	.text
SYM_FUNC_START(setjmp)
	mrc	p15, 0, r3, c13, c0, 4		/* the thread */
	ldr	r3, [r3, #THREAD_CURR_RET_STACK]
	each	str, vstr
	str	sp, [r0, #JMP_SP]
	str	r3, [r0, #JMP_DEPTH]
	mov	r0, #0
	bx	lr
SYM_FUNC_END(setjmp)

SYM_FUNC_START(longjmp)
	mrc	p15, 0, r3, c13, c0, 4
	ldr	r2, [r0, #JMP_DEPTH]
	str	r2, [r3, #THREAD_CURR_RET_STACK]
	each	ldr, vldr
	ldr	sp, [r0, #JMP_SP]
	movs	r0, r1				/* setjmp never returns 0 a second time */
	moveq	r0, #1
	bx	lr
SYM_FUNC_END(longjmp)
