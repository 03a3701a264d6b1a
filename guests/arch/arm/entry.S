/* SPDX-License-Identifier: MIT */
/*
 * Exceptions. Interrupts, NMIs (FIQ) and all exceptions from user mode are recoverable, and are
 * handled in supervisor mode: srs stores the return state on the stack of that mode, below sp from
 * the kernel and at the top of the thread's stack from user mode, and the other registers follow
 * in a struct pt_regs. Interrupt modes have no stack. A fault of the kernel is reported from a
 * stack of its own, in the mode of the exception, and the kernel stops. Floating-point registers
 * are not saved: handlers do not use them, and __switch_to() saves them.
 *
 * While user mode runs, sp of supervisor mode is the end of the thread's stack. The interrupted sp
 * may be any multiple of 4, so handlers run with fp = struct pt_regs and sp aligned below it. It is
 * fp because C functions that do not return keep no other register for a backtrace.
 *
 * An interrupt masks interrupts and leaves NMIs alone; nothing here is live in a register that an
 * NMI would change.
 */
#include <asm/cp15.h>
#include <asm/ptrace.h>
#include <asm/traps.h>
#include <linux/linkage.h>
#include <linux/threads.h>

	.syntax unified

	.cfi_sections .eh_frame

	/*
	 * In: pc and CPSR to return to at sp. Out: sp = struct pt_regs, r0 = the interrupted CPSR.
	 */
	.macro	save_registers
	sub	sp, sp, #S_PC
	stmia	sp, {r0-r12}
	ldr	r0, [sp, #S_CPSR]
	.endm

	/* The exception mode's lr and SPSR to the stack of supervisor mode, and there. */
	.macro	to_supervisor
	srsdb	sp!, #PSR_MODE_SVC
	cps	#PSR_MODE_SVC
	save_registers
	.endm

	/*
	 * The rest of struct pt_regs, when \from is kernel or user. Out: r0 = fp = struct pt_regs.
	 */
	.macro	handler_frame from
	mov	fp, sp
	mvn	r1, #0				/* NO_SYSCALL */
	ldr	r0, [sp]
	str	r0, [sp, #S_ORIG_R0]
	str	r1, [sp, #S_SYSCALLNO]
	.ifc	\from, kernel
	add	r0, sp, #S_FRAME_SIZE
	str	r0, [sp, #S_SP]
	str	lr, [sp, #S_LR]
	.else
	add	r0, sp, #S_SP
	cps	#PSR_MODE_SYS			/* it has sp and lr of user mode */
	str	sp, [r0]
	str	lr, [r0, #4]
	cps	#PSR_MODE_SVC
	.endif
	bic	r0, fp, #4
	mov	sp, r0
	mov	r0, fp
	.endm

	/*
	 * pc has a column beside lr, so a backtrace is right in functions that have not saved lr.
	 */
	.macro	unwind_frame base
	.cfi_def_cfa \base, S_FRAME_SIZE
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	.cfi_offset \n, S_R(\n) - S_FRAME_SIZE
	.endr
	.cfi_offset lr, S_LR - S_FRAME_SIZE
	.cfi_offset DWARF_PC, S_PC - S_FRAME_SIZE
	.endm

	.macro	unwind_begin
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column DWARF_PC
	.endm

	/* Return to the kernel: fp = struct pt_regs, \label is at the last instruction. */
	.macro	return_to_kernel label
	cpsid	i
	mov	sp, fp
	ldr	lr, [sp, #S_LR]
	ldmia	sp, {r0-r12}
	add	sp, sp, #S_PC
	.ifnb	\label
SYM_INNER_LABEL(\label)
	.endif
	rfeia	sp!
	.endm

	/* Return to user mode. In: fp = struct pt_regs, at the top of the thread's stack. */
	.macro	exit_to_user
	mov	sp, fp
	add	r0, sp, #S_SP
	cps	#PSR_MODE_SYS			/* it has sp and lr of user mode */
	ldr	sp, [r0]
	ldr	lr, [r0, #4]
	cps	#PSR_MODE_SVC
	ldmia	sp, {r0-r12}
	add	sp, sp, #S_PC
	rfeia	sp!
	.endm

/*
 * The distance of lr of Undefined mode from the instruction, in the kernel and in user mode:
 * DDI 0406, B1.8.3.
 */
#ifdef __thumb__
#define UNDEFINED_AHEAD	2
#else
#define UNDEFINED_AHEAD	4
#endif

	/* Four bytes, in T32 too. */
	.macro	vector handler
#ifdef __thumb__
	b.w	\handler
#else
	b	\handler
#endif
	.endm

	.section .entry.text, "ax"
	.balign	32
SYM_FUNC_START(vectors)
	vector	.				/* reset: never taken */
	vector	undefined
	vector	supervisor_call
	vector	prefetch_abort
	vector	data_abort
	vector	.				/* hypervisor's: never taken */
	vector	irq
	vector	fiq
SYM_FUNC_END(vectors)

/* irq, fiq - interrupts and NMIs */
	.macro	interrupt name, handler, exit
SYM_FUNC_START(\name)
	unwind_begin
	sub	lr, lr, #4
	to_supervisor
	unwind_frame sp
	tst	r0, #PSR_NOT_USR
	beq	\name\()_user
	handler_frame kernel
	unwind_frame fp
	bl	\handler			/* (regs) */
	return_to_kernel \exit
	.cfi_endproc
SYM_FUNC_END(\name)
	.endm

	interrupt irq, do_irq, interrupt_exit
	interrupt fiq, handle_fiq

SYM_FUNC_START(irq_user)
	unwind_begin
	unwind_frame sp
	.cfi_undefined DWARF_PC			/* a backtrace ends here */
	handler_frame user
	unwind_frame fp
	.cfi_undefined DWARF_PC
	bl	do_irq				/* (regs) */
	b	return_to_user
	.cfi_endproc
SYM_FUNC_END(irq_user)

SYM_FUNC_START(fiq_user)
	unwind_begin
	unwind_frame sp
	.cfi_undefined DWARF_PC
	handler_frame user
	unwind_frame fp
	.cfi_undefined DWARF_PC
	bl	handle_fiq			/* (regs) */
	exit_to_user
	.cfi_endproc
SYM_FUNC_END(fiq_user)

/* supervisor_call - a system call; of the kernel itself, an exception */
SYM_FUNC_START(supervisor_call)
	unwind_begin
	srsdb	sp!, #PSR_MODE_SVC
	save_registers
	unwind_frame sp
	mov	r1, #VECTOR_SVC
	tst	r0, #PSR_NOT_USR
	bne	report_exception
	.cfi_undefined DWARF_PC
	handler_frame user
	unwind_frame fp
	.cfi_undefined DWARF_PC
	cpsie	i
	bl	user_system_call		/* (regs) */
	b	return_to_user
	.cfi_endproc
SYM_FUNC_END(supervisor_call)

/*
 * undefined, prefetch_abort, data_abort - faults: reported if they are the kernel's. Otherwise
 * they are handled as a system call is, with all registers as they came.
 */
	.macro	fault name, mode, vector, ahead
SYM_FUNC_START(\name)
	unwind_begin
	sub	lr, lr, #\ahead			/* to the instruction */
	srsdb	sp!, #\mode
	save_registers
	unwind_frame sp
	mov	r1, #\vector
	tst	r0, #PSR_NOT_USR
	bne	report_exception
	.cfi_undefined DWARF_PC
	ldmia	sp, {r0-r1}
	add	sp, sp, #S_FRAME_SIZE
	to_supervisor
	mov	r5, #\vector
	b	user_fault
	.cfi_endproc
SYM_FUNC_END(\name)
	.endm

	fault	undefined, PSR_MODE_UND, VECTOR_UNDEFINED, UNDEFINED_AHEAD
	fault	prefetch_abort, PSR_MODE_ABT, VECTOR_PREFETCH_ABORT, 4
	fault	data_abort, PSR_MODE_ABT, VECTOR_DATA_ABORT, 8

/* user_fault - an exception from user mode; sp = struct pt_regs, r5 = vector */
SYM_FUNC_START(user_fault)
	unwind_begin
	unwind_frame sp
	.cfi_undefined DWARF_PC
	handler_frame user
	unwind_frame fp
	.cfi_undefined DWARF_PC
	mov	r1, r5
	cpsie	i
	bl	user_synchronous		/* (regs, vector); does not return */
	b	.
	.cfi_endproc
SYM_FUNC_END(user_fault)

/* return_to_user - the exit of system calls and interrupts; fp = struct pt_regs */
SYM_FUNC_START(return_to_user)
	.cfi_startproc
	.cfi_undefined lr
	bl	prepare_return_to_user		/* interrupts are masked when it returns */
	exit_to_user
	.cfi_endproc
SYM_FUNC_END(return_to_user)

/*
 * enter_user - start a program; r0 = its entry, r1 = its sp, r2 = the end of the thread's stack
 *
 * All other registers are zero, and all interrupts are unmasked.
 */
SYM_FUNC_START(enter_user)
	cpsid	if
	mov	r3, #0
	mov	ip, #PSR_MODE_USR
	mov	sp, r2
	tst	r0, #1				/* in an address: T32 */
	orrne	ip, ip, #PSR_T_BIT
	bic	r0, r0, #1
	push	{r0, ip}			/* for rfe */
	cps	#PSR_MODE_SYS			/* it has sp and lr of user mode */
	mov	sp, r1
	mov	lr, r3
	cps	#PSR_MODE_SVC
	vmsr	fpscr, r3
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmov	d\n, r3, r3
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	mov	r\n, #0
	.endr
	rfeia	sp!
SYM_FUNC_END(enter_user)

/*
 * report_exception - sp = struct pt_regs on the stack of the exception's mode, without sp and lr;
 * r1 = vector. Those of supervisor mode are taken, in which the kernel was.
 */
SYM_FUNC_START(report_exception)
	unwind_begin
	unwind_frame sp
	mrs	r3, cpsr
	cps	#PSR_MODE_SVC
	mov	r4, sp
	mov	r5, lr
	msr	cpsr_c, r3
	cmp	r1, #VECTOR_SVC
	addeq	r4, sp, #S_FRAME_SIZE		/* that frame is on the same stack */
	str	r4, [sp, #S_SP]
	str	r5, [sp, #S_LR]
	mov	fp, sp
	unwind_frame fp
	.cfi_offset sp, S_SP - S_FRAME_SIZE
	bic	r0, fp, #4
	mov	sp, r0
	mov	r0, fp
	bl	unhandled_exception		/* (regs, vector); does not return */
	b	.				/* gdb unwinds from this address */
	.cfi_endproc
SYM_FUNC_END(report_exception)

	/* One for each CPU. */
	.bss
	.balign	8
	.globl	exception_stacks
exception_stacks:
	.skip	NR_CPUS * EXCEPTION_STACK_SIZE
