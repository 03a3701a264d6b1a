/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

#include <asm/ptrace.h>
#include <asm/thread.h>

#ifdef __riscv_compressed
#define UNWIND_INSN_ALIGN	2
#endif

/* For linux/unwind.h. */
enum {
	UNWIND_RA,
	UNWIND_SP,
	UNWIND_T0,	/* at a patchable entry: the traced function's return address */
	UNWIND_FP,
	UNWIND_A0,	/* in return_to_handler: its return address */
	UNWIND_PC,	/* in the frame of an interrupt */
	UNWIND_NR
};

/* The tables use the register numbers of the instructions. */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 1:
		return UNWIND_RA;
	case 2:
		return UNWIND_SP;
	case 5:
		return UNWIND_T0;
	case 8:
		return UNWIND_FP;
	case 10:
		return UNWIND_A0;
	case DWARF_PC:
		return UNWIND_PC;
	}
	return -1;
}

static inline void unwind_regs(unsigned long *reg, const struct pt_regs *regs)
{
	reg[UNWIND_RA] = PT_REG(regs, 1);
	reg[UNWIND_SP] = PT_REG(regs, 2);
	reg[UNWIND_T0] = PT_REG(regs, 5);
	reg[UNWIND_FP] = PT_REG(regs, 8);
	reg[UNWIND_A0] = PT_REG(regs, 10);
}

static inline void unwind_switch(unsigned long *reg, const struct thread_struct *thread)
{
	reg[UNWIND_FP] = thread->s[0];
	reg[UNWIND_RA] = thread->ra;
	reg[UNWIND_SP] = thread->sp;
}

#define unwind_here(pc, reg)						\
	__asm__ volatile("auipc %0, 0\n\tmv %1, sp\n\tmv %2, s0\n\tmv %3, ra" \
			 : "=&r"(pc), "=&r"((reg)[UNWIND_SP]),		\
			   "=&r"((reg)[UNWIND_FP]), "=&r"((reg)[UNWIND_RA]))

static inline unsigned long unwind_strip(unsigned long address)
{
	return address;
}

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
/* There is no word with the return address yet when it is taken: see the port's asm/ftrace.h. */
#define unwind_retp(registers, where)	((void)(where), (registers)[UNWIND_SP])
#endif

#endif
