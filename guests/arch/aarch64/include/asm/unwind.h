/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

#include <asm/ptrace.h>
#include <asm/thread.h>

/* For linux/unwind.h. Only sp and x29 have addresses of frames. */
enum {
	UNWIND_X0,	/* in return_to_handler: its return address */
	UNWIND_X9,	/* at a patchable entry: the traced function's return address */
	UNWIND_FP,
	UNWIND_RA,
	UNWIND_SP,
	UNWIND_PC,	/* in the frame of an interrupt */
	UNWIND_NR
};

/* Columns: DWARF for the Arm 64-bit Architecture (AADWARF64). */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 0:
		return UNWIND_X0;
	case 9:
		return UNWIND_X9;
	case 29:
		return UNWIND_FP;
	case 30:
		return UNWIND_RA;
	case 31:
		return UNWIND_SP;
	case DWARF_PC:
		return UNWIND_PC;
	}
	return -1;
}

static inline void unwind_regs(unsigned long *reg, const struct pt_regs *regs)
{
	reg[UNWIND_X0] = regs->regs[0];
	reg[UNWIND_X9] = regs->regs[9];
	reg[UNWIND_FP] = regs->regs[29];
	reg[UNWIND_RA] = regs->regs[30];
	reg[UNWIND_SP] = regs->sp;
}

static inline void unwind_switch(unsigned long *reg, const struct thread_struct *thread)
{
	reg[UNWIND_FP] = thread->fp;
	reg[UNWIND_RA] = thread->lr;
	reg[UNWIND_SP] = thread->sp;
}

#define unwind_here(pc, reg)						\
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30" \
			 : "=&r"(pc), "=&r"((reg)[UNWIND_SP]),		\
			   "=&r"((reg)[UNWIND_FP]), "=&r"((reg)[UNWIND_RA]))

/* Without the authentication code. */
static inline unsigned long unwind_strip(unsigned long address)
{
	register unsigned long x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));		/* xpaclri; a nop without FEAT_PAuth */
	return x30;
}

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
/* The return address is not in memory yet when it is replaced: see the port's asm/ftrace.h. */
#define unwind_retp(registers, where)	((void)(where), (registers)[UNWIND_SP])
#endif

#endif
