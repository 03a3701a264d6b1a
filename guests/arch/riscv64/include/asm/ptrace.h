/* SPDX-License-Identifier: MIT */
/* The registers saved at a trap. The S_ offsets are for assembly (traps.c checks them). */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

#define S_PC			0
#define S_X(n)			((n) * 8)	/* x1..x31 */
#define S_STATUS		(32 * 8)
#define S_CAUSE			(33 * 8)
#define S_VALUE			(34 * 8)
#define S_ORIG_A0		(35 * 8)
#define S_SYSCALLNO		(36 * 8)
#define S_FRAME_SIZE		(38 * 8)

/*
 * A CPU's stack for reports of fatal exceptions. Behind its end, where sscratch points, is the
 * CPU's area: the thread that the CPU runs in user mode, and the registers that a trap saves first.
 */
#define EXCEPTION_STACK_SIZE	8192
#define EXCEPTION_STACK_END	(EXCEPTION_STACK_SIZE - 32)
#define AREA_THREAD		0
#define AREA_A1			8
#define AREA_SP			16
#define AREA_TP			24

#define NO_SYSCALL		(-1)

/* The column that the psABI sets aside for the pc of a signal's frame */
#define DWARF_PC		64

#ifndef __ASSEMBLER__

#include <asm/csr.h>
#include <linux/types.h>

/**
 * struct pt_regs - the interrupted registers
 * @pc:		sepc
 * @regs:	x1..x31: @regs[n - 1] is xn
 * @status:	sstatus
 * @cause:	scause
 * @value:	stval
 * @orig_a0:	system calls: the first argument, whose register gets the result
 * @syscallno:	system calls: the number, else NO_SYSCALL
 */
struct pt_regs {
	u64 pc;
	u64 regs[31];
	u64 status;
	u64 cause;
	u64 value;
	u64 orig_a0;
	s64 syscallno;
	u64 unused;
};

#define PT_REG(pt_regs, n)		((pt_regs)->regs[(n) - 1])
#define user_mode(regs)			(!((regs)->status & SSTATUS_SPP))
#define instruction_pointer(regs)	((unsigned long)(regs)->pc)
#define kernel_stack_pointer(regs)	((unsigned long)PT_REG(regs, 2))

/* Of a function at its entry. */
#define NR_REG_ARGUMENTS		8
#define frame_pointer(pt_regs)		((unsigned long)PT_REG(pt_regs, 8))
#define procedure_link_pointer(pt_regs)	((unsigned long)PT_REG(pt_regs, 1))
#define regs_return_value(pt_regs)	((unsigned long)PT_REG(pt_regs, 10))

static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc)
{
	regs->pc = pc;
}

static inline unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned int n)
{
	return n < NR_REG_ARGUMENTS ? PT_REG(regs, 10 + n) : 0;
}

static inline void regs_set_return_value(struct pt_regs *regs, unsigned long value)
{
	PT_REG(regs, 10) = value;
}

#endif
#endif
