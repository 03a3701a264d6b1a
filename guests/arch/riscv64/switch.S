/* SPDX-License-Identifier: MIT */
/* Switching of threads. */
#include <asm/thread.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

	.macro	each_s instruction, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\instruction	s\n, THREAD_S(\n)(\base)
	.endr
	.endm

	.macro	each_f instruction, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\instruction	f\n, THREAD_F(\n)(\base)
	.endr
	.endm

	.text
/*
 * __switch_to() - see linux/arch.h
 *
 * In: a0 = prev, a1 = next; interrupts masked. Out, in the thread next: a0 unchanged.
 */
SYM_FUNC_START(__switch_to)
	.cfi_startproc
	lui	t0, %hi(THREAD_CONTEXT)		/* thread.c */
	addi	t0, t0, %lo(THREAD_CONTEXT)
	add	t1, t0, a0
	add	t2, t0, a1
	sd	ra, THREAD_RA(t1)
	sd	ra, THREAD_PC(t1)
	sd	sp, THREAD_SP(t1)
	each_s	sd, t1
	csrr	t3, fcsr
	sd	t3, THREAD_FCSR(t1)
	each_f	fsd, t1

	each_f	fld, t2
	ld	t3, THREAD_FCSR(t2)
	csrw	fcsr, t3
	each_s	ld, t2
	ld	t3, THREAD_PC(t2)
	ld	ra, THREAD_RA(t2)
	ld	sp, THREAD_SP(t2)
	mv	tp, a1				/* current */
	jr	t3
	.cfi_endproc
SYM_FUNC_END(__switch_to)
