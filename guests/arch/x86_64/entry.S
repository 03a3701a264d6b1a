/* SPDX-License-Identifier: MIT */
/*
 * Exceptions and interrupts save a struct pt_regs on the kernel stack of the thread: below rsp from
 * the kernel, at the top of the stack from user mode, to which the TSS points. Only a double fault
 * has a separate stack (traps.c). All gates mask interrupts. Floating-point registers are not saved
 * here: the functions called from here do not use them, and __switch_to() saves them.
 *
 * The base of gs is `current` in the kernel, and 0 in user mode, which cannot set it. An NMI may
 * come between an entry or exit and its swapgs; therefore its handler tests the base, not the
 * interrupted cs.
 */
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <linux/linkage.h>

	.cfi_sections .eh_frame

#define VECTOR_NMI	2

	/* Offsets from members of the frame to its end, which unwind_regs_from needs. */
	.set	.Lfrom_all, S_FRAME_SIZE
	.set	.Lfrom_vector, S_FRAME_SIZE - S_VECTOR
	.set	.Lfrom_error, S_FRAME_SIZE - S_ERROR
	.set	.Lfrom_pc, S_FRAME_SIZE - S_PC

	.macro	unwind_regs_from offset
	.cfi_def_cfa rsp, \offset
	.cfi_offset rip, S_PC - S_FRAME_SIZE
	.cfi_offset rsp, S_SP - S_FRAME_SIZE
	.endm

	/* Below the vector; leaves rdi = struct pt_regs. */
	.macro	save_regs
	subq	$S_VECTOR, %rsp
	unwind_regs_from .Lfrom_all
	.set	.Lplace, 0
	.irp	name, r15, r14, r13, r12, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, rbp, rbx
	movq	%\name, .Lplace(%rsp)
	.set	.Lplace, .Lplace + 8
	.endr
	movq	$NO_SYSCALL, S_SYSCALLNO(%rsp)
	.cfi_offset rax, S_AX - S_FRAME_SIZE
	.cfi_offset r10, S_R10 - S_FRAME_SIZE
	.cfi_offset rbp, S_BP - S_FRAME_SIZE
	.cfi_offset rbx, S_BX - S_FRAME_SIZE
	movq	%rsp, %rdi
	cld
	.endm

	/*
	 * Load all registers but rsp, and return to the context saved in the frame; \label is at
	 * the last instruction.
	 */
	.macro	restore_regs_and_return label
	.set	.Lplace, 0
	.irp	name, r15, r14, r13, r12, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, rbp, rbx
	movq	.Lplace(%rsp), %\name
	.set	.Lplace, .Lplace + 8
	.endr
	.cfi_same_value rax
	.cfi_same_value r10
	.cfi_same_value rbp
	.cfi_same_value rbx
	addq	$S_PC, %rsp
	unwind_regs_from .Lfrom_pc
	.ifnb	\label
SYM_INNER_LABEL(\label)
	.endif
	iretq
	.endm

	.section .entry.text, "ax"
	.balign	16
/* vectors() - 256 of them, of 16 bytes each; the CPU pushes an error code for some exceptions */
SYM_FUNC_START(vectors)
	.cfi_startproc
	.cfi_signal_frame
	.set	.Lvector, 0
	.rept	256
	.balign	16
	unwind_regs_from .Lfrom_pc
	.if	.Lvector == 8 || (.Lvector >= 10 && .Lvector <= 14) || .Lvector == 17 || \
		.Lvector == 21
	nop
	.else
	pushq	$0
	.endif
	unwind_regs_from .Lfrom_error
	pushq	$.Lvector
	unwind_regs_from .Lfrom_vector
	.if	.Lvector == VECTOR_NMI
	jmp	nmi
	.else
	jmp	exception
	.endif
	.set	.Lvector, .Lvector + 1
	.endr
	.balign	16
	.cfi_endproc
SYM_FUNC_END(vectors)

/* exception() - all but NMIs: the vector lies at rsp, then the error code, then the CPU's frame */
SYM_FUNC_START(exception)
	.cfi_startproc
	.cfi_signal_frame
	unwind_regs_from .Lfrom_vector
	testb	$3, S_CS - S_VECTOR(%rsp)
	jnz	from_user
	save_regs
	cmpq	$32, S_VECTOR(%rsp)
	jb	kernel_fault
	call	do_irq				/* (regs) */
	restore_regs_and_return interrupt_exit
	.cfi_endproc
SYM_FUNC_END(exception)

/* kernel_fault() - an exception of the kernel's own code; rdi = struct pt_regs at rsp */
SYM_FUNC_START(kernel_fault)
	.cfi_startproc
	.cfi_signal_frame
	unwind_regs_from .Lfrom_all
	.cfi_offset rax, S_AX - S_FRAME_SIZE
	.cfi_offset r10, S_R10 - S_FRAME_SIZE
	.cfi_offset rbp, S_BP - S_FRAME_SIZE
	.cfi_offset rbx, S_BX - S_FRAME_SIZE
	call	kernel_exception		/* (regs) */
	restore_regs_and_return
	.cfi_endproc
SYM_FUNC_END(kernel_fault)

/* from_user() - a system call, an interrupt or an exception from user mode */
SYM_FUNC_START(from_user)
	.cfi_startproc
	.cfi_signal_frame
	unwind_regs_from .Lfrom_vector
	.cfi_undefined rip			/* a backtrace ends here */
	swapgs
	save_regs
	.cfi_undefined rip
	cmpq	$USER_CALL_VECTOR, S_VECTOR(%rsp)
	je	1f
	cmpq	$32, S_VECTOR(%rsp)
	jb	1f
	call	do_irq				/* (regs) */
	jmp	2f
1:	sti
	call	user_synchronous		/* (regs) */
2:	call	exit_to_user			/* interrupts are masked when it returns */
	swapgs
	restore_regs_and_return
	.cfi_endproc
SYM_FUNC_END(from_user)

/* nmi() - as exception(). Its iretq unmasks the next NMI. */
SYM_FUNC_START(nmi)
	.cfi_startproc
	.cfi_signal_frame
	unwind_regs_from .Lfrom_vector
	save_regs
	movl	$MSR_GS_BASE, %ecx
	rdmsr
	orl	%edx, %eax
	movl	%eax, %ebx			/* 0: the base is the user's */
	jnz	1f
	swapgs
1:	call	do_nmi				/* (regs) */
	testl	%ebx, %ebx
	jnz	2f
	swapgs
2:	restore_regs_and_return
	.cfi_endproc
SYM_FUNC_END(nmi)

/*
 * enter_user() - begin a program; rdi = its entry, rsi = its rsp
 *
 * Called with interrupts masked. The program begins with zeros in all other registers, and with
 * interrupts enabled.
 */
SYM_FUNC_START(enter_user)
	movl	$USER_DS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	pushq	%rax				/* ss */
	pushq	%rsi
	pushq	$0x202				/* IF */
	pushq	$USER_CS
	pushq	%rdi
	fninit
	pushq	$0x1f80
	ldmxcsr	(%rsp)
	addq	$8, %rsp
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	pxor	%xmm\n, %xmm\n
	.endr
	.irp	name, eax, ebx, ecx, edx, esi, edi, ebp, r8d, r9d, r10d, r11d, r12d, r13d, r14d, \
		r15d
	xorl	%\name, %\name
	.endr
	swapgs
	iretq
SYM_FUNC_END(enter_user)
