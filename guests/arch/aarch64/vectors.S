/* SPDX-License-Identifier: MIT */
/*
 * Exception vectors. Recoverable exceptions go to entry.S; for all others the registers are saved
 * and reported, and the kernel stops. They are saved on a separate stack, so that the report does
 * not depend on the interrupted sp. No memory is accessed before x0 has its address; x0 is saved in
 * tpidrro_el0, which has no other use.
 */
#include <asm/ptrace.h>
#include <linux/linkage.h>
#include <linux/threads.h>

	.cfi_sections .eh_frame

	/* A vector is 32 instructions long. Out: x0 = the frame, w1 = the vector's number. */
	.macro	unhandled, number
	.balign	0x80
	msr	tpidrro_el0, x0
	mrs	x0, tpidr_el1		/* the end of this CPU's exception stack */
	sub	x0, x0, #S_FRAME_SIZE
	str	x1, [x0, #S_X(1)]
	mov	w1, #\number
	b	report_exception
	.endm

	.macro	handled, routine
	.balign	0x80
	b	\routine
	.endm

	.section .entry.text, "ax"
	.balign	0x800
SYM_FUNC_START(vectors)
	unhandled 0		/* EL1 with SP_EL0: never used */
	unhandled 1
	unhandled 2
	unhandled 3
	unhandled 4		/* EL1: synchronous, IRQ, FIQ, SError */
	handled	el1_irq
	handled	el1_fiq
	unhandled 7
	handled	el0_sync	/* EL0: likewise */
	handled	el0_irq
	handled	el0_fiq
	unhandled 11
	unhandled 12		/* EL0 in AArch32: never used */
	unhandled 13
	unhandled 14
	unhandled 15
SYM_FUNC_END(vectors)

	/*
	 * x0 = struct pt_regs to fill, w1 = number of the vector. x1 is saved, x0 is in
	 * tpidrro_el0. The unwind information is as in entry.S.
	 */
SYM_FUNC_START(report_exception)
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	.cfi_def_cfa x0, 0
	stp	x2, x3, [x0, #S_X(2)]
	stp	x4, x5, [x0, #S_X(4)]
	stp	x6, x7, [x0, #S_X(6)]
	stp	x8, x9, [x0, #S_X(8)]
	stp	x10, x11, [x0, #S_X(10)]
	stp	x12, x13, [x0, #S_X(12)]
	stp	x14, x15, [x0, #S_X(14)]
	stp	x16, x17, [x0, #S_X(16)]
	stp	x18, x19, [x0, #S_X(18)]
	stp	x20, x21, [x0, #S_X(20)]
	stp	x22, x23, [x0, #S_X(22)]
	stp	x24, x25, [x0, #S_X(24)]
	stp	x26, x27, [x0, #S_X(26)]
	stp	x28, x29, [x0, #S_X(28)]
	str	x30, [x0, #S_X(30)]
	mrs	x2, tpidrro_el0
	str	x2, [x0, #S_X(0)]

	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x2, x3, [x0, #S_PC]
	mov	x4, sp			/* the sp in use: selected by SPSR's lowest bit */
	mrs	x5, sp_el0
	tst	x3, #1
	csel	x4, x4, x5, ne
	str	x4, [x0, #S_SP]

	mov	sp, x0
	.cfi_def_cfa sp, S_FRAME_SIZE
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30
	.cfi_offset x\n, S_X(\n) - S_FRAME_SIZE
	.endr
	.cfi_offset DWARF_PC, S_PC - S_FRAME_SIZE
	.cfi_offset sp, S_SP - S_FRAME_SIZE
	mrs	x2, esr_el1
	mrs	x3, far_el1
	bl	unhandled_exception	/* (regs, vector, esr, far); does not return */
	b	.			/* gdb unwinds from this address */
	.cfi_endproc
SYM_FUNC_END(report_exception)

	/*
	 * One stack for each CPU. Behind its end, where TPIDR_EL1 points, is the thread that the
	 * CPU runs in user mode.
	 */
	.bss
	.balign	16
	.globl	exception_stacks
exception_stacks:
	.skip	NR_CPUS * EXCEPTION_STACK_SIZE
