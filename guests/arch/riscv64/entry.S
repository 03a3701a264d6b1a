/* SPDX-License-Identifier: MIT */
/*
 * Traps. There is one vector. Interrupts and all exceptions from user mode save a struct pt_regs on
 * the kernel stack of the thread: below sp from the kernel, at the top of the stack from user mode.
 * Any other exception is reported on a separate stack, and the kernel stops. Floating-point
 * registers are not saved here: the functions called from here do not use them, and __switch_to()
 * saves them.
 *
 * sscratch points to the CPU's own area behind its exception stack (asm/ptrace.h). Traps mask
 * interrupts, so one area for each CPU is enough.
 */
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <linux/linkage.h>
#include <linux/threads.h>

	.cfi_sections .eh_frame

	/* All registers but \without, to or from a frame at \base. */
	.macro	registers instruction, base, without:vararg
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
		23, 24, 25, 26, 27, 28, 29, 30, 31
	.set	.Lskip, 0
	.irp	m, \without
	.if	\m == \n
	.set	.Lskip, 1
	.endif
	.endr
	.ifeq	.Lskip
	\instruction	x\n, S_X(\n)(\base)
	.endif
	.endr
	.endm

	/* With the frame at sp, and sp, t0 and t1 saved: the rest, and a0 = sp. */
	.macro	save_trap
	csrr	t0, sepc
	csrr	t1, sstatus
	sd	t0, S_PC(sp)
	sd	t1, S_STATUS(sp)
	csrr	t0, scause
	csrr	t1, stval
	sd	t0, S_CAUSE(sp)
	sd	t1, S_VALUE(sp)
	sd	a0, S_ORIG_A0(sp)
	li	t0, NO_SYSCALL
	sd	t0, S_SYSCALLNO(sp)
	mv	a0, sp
	.endm

	.macro	unwind_trap
	.cfi_def_cfa sp, S_FRAME_SIZE
	.cfi_offset ra, S_X(1) - S_FRAME_SIZE
	.cfi_offset sp, S_X(2) - S_FRAME_SIZE
	.cfi_offset t0, S_X(5) - S_FRAME_SIZE
	.cfi_offset t1, S_X(6) - S_FRAME_SIZE
	.cfi_offset s0, S_X(8) - S_FRAME_SIZE
	.cfi_offset a0, S_X(10) - S_FRAME_SIZE
	.cfi_offset DWARF_PC, S_PC - S_FRAME_SIZE
	.endm

	/* Return to the context in the frame at sp; \label is at the last instruction. */
	.macro	restore_trap label
	ld	t0, S_PC(sp)
	ld	t1, S_STATUS(sp)
	csrw	sepc, t0
	csrw	sstatus, t1
	registers ld, sp, 2
	ld	sp, S_X(2)(sp)
	.ifnb	\label
SYM_INNER_LABEL(\label)
	.endif
	sret
	.endm

	.section .entry.text, "ax"
	.balign	4
/* vectors() - every trap */
SYM_FUNC_START(vectors)
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	csrrw	a0, sscratch, a0
	sd	a1, AREA_A1(a0)
	csrr	a1, sstatus
	andi	a1, a1, SSTATUS_SPP
	beqz	a1, from_user
	csrr	a1, scause
	bgez	a1, report_exception

	ld	a1, AREA_A1(a0)
	csrrw	a0, sscratch, a0
	addi	sp, sp, -S_FRAME_SIZE
	.cfi_adjust_cfa_offset S_FRAME_SIZE
	registers sd, sp, 2
	addi	t0, sp, S_FRAME_SIZE
	sd	t0, S_X(2)(sp)
	save_trap
	unwind_trap
	call	do_irq				/* (regs) */
	csrci	sstatus, SSTATUS_SIE
	restore_trap interrupt_exit
	.cfi_endproc
SYM_FUNC_END(vectors)

/* from_user() - a system call, an interrupt or an exception from user mode */
SYM_FUNC_START(from_user)
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	.cfi_undefined DWARF_PC			/* a backtrace ends here */
	sd	sp, AREA_SP(a0)
	sd	tp, AREA_TP(a0)
	ld	tp, AREA_THREAD(a0)
	ld	a1, AREA_A1(a0)
	ld	sp, THREAD_STACK_END(tp)
	csrrw	a0, sscratch, a0
	addi	sp, sp, -S_FRAME_SIZE
	registers sd, sp, 2, 4
	csrr	t0, sscratch
	ld	t1, AREA_SP(t0)
	sd	t1, S_X(2)(sp)
	ld	t1, AREA_TP(t0)
	sd	t1, S_X(4)(sp)
	save_trap
	unwind_trap
	.cfi_undefined DWARF_PC
	ld	t0, S_CAUSE(sp)
	bgez	t0, 1f
	call	do_irq				/* (regs) */
	j	return_to_user
1:	csrsi	sstatus, SSTATUS_SIE
	call	user_synchronous		/* (regs) */
	j	return_to_user
	.cfi_endproc
SYM_FUNC_END(from_user)

/* return_to_user() - the exit of from_user; sp = struct pt_regs */
SYM_FUNC_START(return_to_user)
	.cfi_startproc
	.cfi_undefined ra
	call	prepare_return_to_user		/* interrupts are masked when it returns */
	csrr	t0, sscratch
	sd	tp, AREA_THREAD(t0)
	restore_trap
	.cfi_endproc
SYM_FUNC_END(return_to_user)

/*
 * enter_user() - begin a program; a0 = its entry, a1 = its sp
 *
 * The program begins with zeros in all other registers, and with interrupts enabled.
 */
SYM_FUNC_START(enter_user)
	csrci	sstatus, SSTATUS_SIE
	csrr	t0, sscratch
	sd	tp, AREA_THREAD(t0)
	csrw	sepc, a0
	li	t0, SSTATUS_SPP
	csrc	sstatus, t0
	li	t0, SSTATUS_SPIE
	csrs	sstatus, t0
	csrw	fcsr, zero
	mv	sp, a1
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	fmv.d.x	f\n, zero
	.endr
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, \
		24, 25, 26, 27, 28, 29, 30, 31
	li	x\n, 0
	.endr
	sret
SYM_FUNC_END(enter_user)

/* report_exception() - a0 = the CPU's area, where a1 is saved; a0 itself is in sscratch */
SYM_FUNC_START(report_exception)
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	addi	a0, a0, -S_FRAME_SIZE
	.cfi_def_cfa a0, S_FRAME_SIZE
	registers sd, a0, 10, 11
	ld	t0, S_FRAME_SIZE + AREA_A1(a0)
	sd	t0, S_X(11)(a0)
	addi	t0, a0, S_FRAME_SIZE
	csrrw	t0, sscratch, t0
	sd	t0, S_X(10)(a0)
	mv	sp, a0
	save_trap
	unwind_trap
	call	unhandled_exception		/* (regs); does not return */
	j	.				/* gdb unwinds from this address */
	.cfi_endproc
SYM_FUNC_END(report_exception)
