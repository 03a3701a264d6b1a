/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

/*
 * The registers saved at an exception. The S_ offsets are for assembly (traps.c checks them). srs
 * stores the last two, so they have to be the last, in this order.
 */
#define S_R(n)			((n) * 4)	/* r0..r12 */
#define S_SP			52
#define S_LR			56
#define S_ORIG_R0		60
#define S_SYSCALLNO		64
#define S_PC			68
#define S_CPSR			72
#define S_FRAME_SIZE		76

/* A CPU's stack for exceptions other than interrupts and system calls, of both modes. */
#define EXCEPTION_STACK_SHIFT	13
#define EXCEPTION_STACK_SIZE	(1 << EXCEPTION_STACK_SHIFT)

#define NO_SYSCALL		(-1)

/* pc as a column of unwind information (DWARF for the Arm Architecture, AADWARF32) */
#define DWARF_PC		15

#ifndef __ASSEMBLER__

#include <asm/cp15.h>

/**
 * struct pt_regs - the interrupted registers
 * @regs:	r0..r12
 * @sp:		the stack pointer, of supervisor or of user mode
 * @lr:		likewise
 * @orig_r0:	system calls: the first argument (regs[0] has the result)
 * @syscallno:	system calls: the number, else NO_SYSCALL
 * @pc:		the interrupted instruction; system calls: the one behind it
 * @cpsr:	SPSR of the exception
 */
struct pt_regs {
	unsigned long regs[13];
	unsigned long sp;
	unsigned long lr;
	unsigned long orig_r0;
	long syscallno;
	unsigned long pc;
	unsigned long cpsr;
};

#define user_mode(regs)			(((regs)->cpsr & PSR_MODE_MASK) == PSR_MODE_USR)
#define instruction_pointer(regs)	((regs)->pc)
#define kernel_stack_pointer(regs)	((regs)->sp)

#endif
#endif
