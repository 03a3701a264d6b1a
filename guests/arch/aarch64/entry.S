/* SPDX-License-Identifier: MIT */
/*
 * Recoverable exceptions: interrupts, NMIs (FIQ), and all exceptions from user mode. The registers
 * are saved in a struct pt_regs on the thread's kernel stack, below sp from EL1 and at the top of
 * the stack from EL0. Floating-point registers are not saved here: handlers do not use them, and
 * __switch_to() saves them.
 *
 * The CPU masks all exceptions on entry. Interrupt handlers run with F clear, so that an NMI can
 * come at any of their instructions, except here where ELR_EL1 and SPSR_EL1 are live.
 */
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

	/*
	 * Out: sp = x0 = struct pt_regs, x29 = its frame record, from EL0 sp_el0 = the thread.
	 * Changes x20..x23. TPIDR_EL1 has the address where the CPU keeps the thread that is in
	 * user mode.
	 *
	 * The unwind information gives the interrupted pc a column of its own beside x30, so that a
	 * backtrace is right in functions that have not saved x30, too.
	 */
	.macro	kernel_entry, el
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	sub	sp, sp, #S_FRAME_SIZE
	.cfi_def_cfa_offset S_FRAME_SIZE
	stp	x0, x1, [sp, #S_X(0)]
	stp	x2, x3, [sp, #S_X(2)]
	stp	x4, x5, [sp, #S_X(4)]
	stp	x6, x7, [sp, #S_X(6)]
	stp	x8, x9, [sp, #S_X(8)]
	stp	x10, x11, [sp, #S_X(10)]
	stp	x12, x13, [sp, #S_X(12)]
	stp	x14, x15, [sp, #S_X(14)]
	stp	x16, x17, [sp, #S_X(16)]
	stp	x18, x19, [sp, #S_X(18)]
	stp	x20, x21, [sp, #S_X(20)]
	stp	x22, x23, [sp, #S_X(22)]
	stp	x24, x25, [sp, #S_X(24)]
	stp	x26, x27, [sp, #S_X(26)]
	stp	x28, x29, [sp, #S_X(28)]
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	.if	\el
	add	x21, sp, #S_FRAME_SIZE
	stp	x29, x22, [sp, #S_RECORD]
	.else
	mrs	x21, sp_el0
	mrs	x20, tpidr_el1
	ldr	x20, [x20]
	msr	sp_el0, x20
	stp	xzr, xzr, [sp, #S_RECORD]
	.endif
	stp	x30, x21, [sp, #S_X(30)]
	stp	x22, x23, [sp, #S_PC]
	mov	x20, #NO_SYSCALL
	stp	x0, x20, [sp, #S_ORIG_X0]
	add	x29, sp, #S_RECORD
	mov	x0, sp
	.cfi_offset x0, S_X(0) - S_FRAME_SIZE
	.cfi_offset x9, S_X(9) - S_FRAME_SIZE
	.cfi_offset x29, S_X(29) - S_FRAME_SIZE
	.cfi_offset x30, S_X(30) - S_FRAME_SIZE
	.cfi_offset DWARF_PC, S_PC - S_FRAME_SIZE
	.cfi_offset x19, S_X(19) - S_FRAME_SIZE
	.cfi_offset x20, S_X(20) - S_FRAME_SIZE
	.cfi_offset x21, S_X(21) - S_FRAME_SIZE
	.cfi_offset x22, S_X(22) - S_FRAME_SIZE
	.cfi_offset x23, S_X(23) - S_FRAME_SIZE
	.if	\el == 0
	.cfi_undefined DWARF_PC		/* a backtrace ends here */
	.endif
	.endm

	/*
	 * In: sp = struct pt_regs. Goes back to what was interrupted; \label is at the last
	 * instruction.
	 */
	.macro	kernel_exit, el, label
	msr	daifset, #DAIF_ALL
	ldp	x22, x23, [sp, #S_PC]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	.if	\el == 0
	mrs	x20, tpidr_el1
	mrs	x21, sp_el0
	str	x21, [x20]
	ldr	x21, [sp, #S_SP]
	msr	sp_el0, x21
	.endif
	ldp	x0, x1, [sp, #S_X(0)]
	ldp	x2, x3, [sp, #S_X(2)]
	ldp	x4, x5, [sp, #S_X(4)]
	ldp	x6, x7, [sp, #S_X(6)]
	ldp	x8, x9, [sp, #S_X(8)]
	ldp	x10, x11, [sp, #S_X(10)]
	ldp	x12, x13, [sp, #S_X(12)]
	ldp	x14, x15, [sp, #S_X(14)]
	ldp	x16, x17, [sp, #S_X(16)]
	ldp	x18, x19, [sp, #S_X(18)]
	ldp	x20, x21, [sp, #S_X(20)]
	ldp	x22, x23, [sp, #S_X(22)]
	ldp	x24, x25, [sp, #S_X(24)]
	ldp	x26, x27, [sp, #S_X(26)]
	ldp	x28, x29, [sp, #S_X(28)]
	ldr	x30, [sp, #S_X(30)]
	add	sp, sp, #S_FRAME_SIZE
	.ifnb	\label
SYM_INNER_LABEL(\label)
	.endif
	eret
	.cfi_endproc
	.endm

	.section .entry.text, "ax"
/* el1_irq, el1_fiq - the kernel was interrupted */
SYM_FUNC_START(el1_irq)
	kernel_entry 1
	msr	daifclr, #DAIF_F
	bl	do_irq			/* (regs) */
	kernel_exit 1, interrupt_exit
SYM_FUNC_END(el1_irq)

SYM_FUNC_START(el1_fiq)
	kernel_entry 1
	bl	handle_fiq		/* (regs) */
	kernel_exit 1
SYM_FUNC_END(el1_fiq)

/* el0_sync - a system call or an exception from user mode */
SYM_FUNC_START(el0_sync)
	kernel_entry 0
	mrs	x1, esr_el1
	mrs	x2, far_el1
	msr	daifclr, #DAIF_I | DAIF_F
	bl	user_synchronous	/* (regs, esr, far) */
	b	return_to_user
	.cfi_endproc
SYM_FUNC_END(el0_sync)

SYM_FUNC_START(el0_irq)
	kernel_entry 0
	msr	daifclr, #DAIF_F
	bl	do_irq			/* (regs) */
	b	return_to_user
	.cfi_endproc
SYM_FUNC_END(el0_irq)

SYM_FUNC_START(el0_fiq)
	kernel_entry 0
	bl	handle_fiq		/* (regs) */
	kernel_exit 0
SYM_FUNC_END(el0_fiq)

/* return_to_user - the exit of el0_irq and el0_sync; sp = struct pt_regs */
SYM_FUNC_START(return_to_user)
	.cfi_startproc
	.cfi_undefined x30
	bl	prepare_return_to_user	/* interrupts are masked when it returns */
	kernel_exit 0
SYM_FUNC_END(return_to_user)

/*
 * enter_user - start a program; x0 = its entry, x1 = its sp, x2 = the end of the thread's stack
 *
 * All other registers are zero, and all interrupts are unmasked.
 */
SYM_FUNC_START(enter_user)
	hint	#34			/* bti c */
	msr	daifset, #DAIF_ALL
	mov	sp, x2
	mrs	x3, tpidr_el1
	mrs	x4, sp_el0
	str	x4, [x3]
	msr	elr_el1, x0
	msr	spsr_el1, xzr		/* EL0 */
	msr	sp_el0, x1
	msr	fpcr, xzr
	msr	fpsr, xzr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	movi	v\n\().2d, #0
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30
	mov	x\n, xzr
	.endr
	eret
SYM_FUNC_END(enter_user)
