/* SPDX-License-Identifier: MIT */
/* Thread switch. */
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame
	.text
/*
 * __switch_to - see linux/arch.h
 *
 * In: x0 = prev, x1 = next; interrupts masked. Out: x0 unchanged, in the thread next. x2 =
 * &prev->thread, x3 = &next->thread; x9 and x10 are scratch.
 *
 * An NMI may come at any instruction: there is always room below sp, on either stack. The function
 * ends with `ret`, to a new thread too, so no landing pad is needed there.
 */
SYM_FUNC_START(__switch_to)
	.cfi_startproc
	movz	x3, #:abs_g0:THREAD_CONTEXT	/* kernel/thread.c */
	add	x2, x0, x3
	mov	x9, sp
	stp	x19, x20, [x2, #THREAD_X19]
	stp	x21, x22, [x2, #THREAD_X19 + 16]
	stp	x23, x24, [x2, #THREAD_X19 + 32]
	stp	x25, x26, [x2, #THREAD_X19 + 48]
	stp	x27, x28, [x2, #THREAD_X19 + 64]
	stp	x29, x30, [x2, #THREAD_FP]
	stp	x9, x30, [x2, #THREAD_SP]
	mrs	x9, fpcr
	mrs	x10, fpsr
	stp	x9, x10, [x2, #THREAD_FPCR]
	add	x2, x2, #THREAD_Q0
	stp	q0, q1, [x2]
	stp	q2, q3, [x2, #32]
	stp	q4, q5, [x2, #64]
	stp	q6, q7, [x2, #96]
	stp	q8, q9, [x2, #128]
	stp	q10, q11, [x2, #160]
	stp	q12, q13, [x2, #192]
	stp	q14, q15, [x2, #224]
	stp	q16, q17, [x2, #256]
	stp	q18, q19, [x2, #288]
	stp	q20, q21, [x2, #320]
	stp	q22, q23, [x2, #352]
	stp	q24, q25, [x2, #384]
	stp	q26, q27, [x2, #416]
	stp	q28, q29, [x2, #448]
	stp	q30, q31, [x2, #480]

	add	x3, x1, x3
	add	x2, x3, #THREAD_Q0
	ldp	q0, q1, [x2]
	ldp	q2, q3, [x2, #32]
	ldp	q4, q5, [x2, #64]
	ldp	q6, q7, [x2, #96]
	ldp	q8, q9, [x2, #128]
	ldp	q10, q11, [x2, #160]
	ldp	q12, q13, [x2, #192]
	ldp	q14, q15, [x2, #224]
	ldp	q16, q17, [x2, #256]
	ldp	q18, q19, [x2, #288]
	ldp	q20, q21, [x2, #320]
	ldp	q22, q23, [x2, #352]
	ldp	q24, q25, [x2, #384]
	ldp	q26, q27, [x2, #416]
	ldp	q28, q29, [x2, #448]
	ldp	q30, q31, [x2, #480]
	ldp	x9, x10, [x3, #THREAD_FPCR]
	msr	fpcr, x9
	msr	fpsr, x10
	ldp	x19, x20, [x3, #THREAD_X19]
	ldp	x21, x22, [x3, #THREAD_X19 + 16]
	ldp	x23, x24, [x3, #THREAD_X19 + 32]
	ldp	x25, x26, [x3, #THREAD_X19 + 48]
	ldp	x27, x28, [x3, #THREAD_X19 + 64]
	ldp	x29, x30, [x3, #THREAD_FP]
	ldp	x9, x10, [x3, #THREAD_SP]
	mov	sp, x9
	msr	sp_el0, x1		/* current */
	ret	x10
	.cfi_endproc
SYM_FUNC_END(__switch_to)
