/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

/*
 * The registers saved at an exception. The S_ offsets are for assembly (traps.c checks them). The
 * last member is a frame record, which links the handler to the interrupted function. In a frame
 * from user mode it is the outermost record.
 */
#define S_X(n)			((n) * 8)
#define S_SP			(31 * 8)
#define S_PC			(32 * 8)
#define S_PSTATE		(33 * 8)
#define S_ORIG_X0		(34 * 8)
#define S_SYSCALLNO		(35 * 8)
#define S_RECORD		(36 * 8)
#define S_FRAME_SIZE		(38 * 8)

/* A CPU's stack for reports of fatal exceptions, and 16 bytes after its end: see vectors.S. */
#define EXCEPTION_STACK_SIZE	8192
#define EXCEPTION_STACK_END	(EXCEPTION_STACK_SIZE - 16)

#define NO_SYSCALL		(-1)

/* pc as a column of unwind information (DWARF for the Arm 64-bit Architecture, AADWARF64) */
#define DWARF_PC		32

#ifndef __ASSEMBLER__

#include <asm/sysreg.h>
#include <linux/types.h>

/**
 * struct pt_regs - the interrupted registers
 * @regs:	x0..x30
 * @sp:		the interrupted stack pointer; from user mode, SP_EL0
 * @pc:		ELR_EL1
 * @pstate:	SPSR_EL1
 * @orig_x0:	system calls: the first argument (regs[0] has the result)
 * @syscallno:	system calls: the number, else NO_SYSCALL
 * @record:	frame record: the interrupted x29 and pc, or two zeros
 */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 orig_x0;
	s64 syscallno;
	u64 record[2];
};

#define user_mode(regs)			(((regs)->pstate & PSR_MODE_MASK) == PSR_MODE_EL0T)
#define instruction_pointer(regs)	((unsigned long)(regs)->pc)
#define kernel_stack_pointer(regs)	((unsigned long)(regs)->sp)

/* Of a function at its entry. */
#define NR_REG_ARGUMENTS		8
#define frame_pointer(saved)		((saved)->regs[29])
#define procedure_link_pointer(saved)	((saved)->regs[30])
#define regs_return_value(saved)	((unsigned long)(saved)->regs[0])

static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc)
{
	regs->pc = pc;
}

static inline unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned int n)
{
	return n < NR_REG_ARGUMENTS ? regs->regs[n] : 0;
}

static inline void regs_set_return_value(struct pt_regs *regs, unsigned long value)
{
	regs->regs[0] = value;
}

#endif
#endif
