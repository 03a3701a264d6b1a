/* SPDX-License-Identifier: MIT */
/* Thread switch. */
#include <asm/thread.h>
#include <linux/linkage.h>

	.syntax unified

	.cfi_sections .eh_frame

	.macro	each core, float, base
	.irp	n, 4, 5, 6, 7, 8, 9, 10, 11
	\core	r\n, [\base, #THREAD_R(\n)]
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\float	d\n, [\base, #THREAD_D(\n)]
	.endr
	.endm

	.text
/*
 * __switch_to - see linux/arch.h
 *
 * In: r0 = prev, r1 = next; interrupts masked. Out: r0 unchanged, in the thread next. r2 =
 * &prev->thread, r3 = &next->thread; ip is scratch.
 *
 * An NMI may come at any instruction: there is always room below sp, on either stack.
 */
SYM_FUNC_START(__switch_to)
	.cfi_startproc
	movw	ip, #:lower16:THREAD_CONTEXT	/* kernel/thread.c */
	add	r2, r0, ip
	add	r3, r1, ip
	vmrs	ip, fpscr
	each	str, vstr, r2
	str	ip, [r2, #THREAD_FPSCR]
	str	sp, [r2, #THREAD_SP]
	str	lr, [r2, #THREAD_LR]
	str	lr, [r2, #THREAD_PC]

	each	ldr, vldr, r3
	ldr	ip, [r3, #THREAD_FPSCR]
	vmsr	fpscr, ip
	ldr	sp, [r3, #THREAD_SP]
	ldr	lr, [r3, #THREAD_LR]
	ldr	ip, [r3, #THREAD_PC]
	mcr	p15, 0, r1, c13, c0, 4		/* current */
	bx	ip
	.cfi_endproc
SYM_FUNC_END(__switch_to)
