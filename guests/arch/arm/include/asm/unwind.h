/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

#include <asm/ptrace.h>
#include <asm/thread.h>

#ifdef __thumb__
#define UNWIND_INSN_ALIGN	2
#define ADR			"adr.w"
#else
#define ADR			"adr"
#endif

/* For linux/unwind.h. All but the last three have addresses of frames. */
enum {
	UNWIND_R7,	/* the frame pointer of gcc in T32 */
	UNWIND_FP,
	UNWIND_IP,	/* in prologues */
	UNWIND_SP,
	UNWIND_R0,	/* in return_to_handler: its return address */
	UNWIND_RA,
	UNWIND_PC,	/* in the port's stubs, and in the frame of an interrupt */
	UNWIND_NR
};

/* Columns: DWARF for the Arm Architecture (AADWARF32). */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 0:
		return UNWIND_R0;
	case 7:
		return UNWIND_R7;
	case 11:
		return UNWIND_FP;
	case 12:
		return UNWIND_IP;
	case 13:
		return UNWIND_SP;
	case 14:
		return UNWIND_RA;
	case DWARF_PC:
		return UNWIND_PC;
	}
	return -1;
}

static inline void unwind_regs(unsigned long *reg, const struct pt_regs *regs)
{
	reg[UNWIND_R0] = regs->regs[0];
	reg[UNWIND_R7] = regs->regs[7];
	reg[UNWIND_FP] = regs->regs[11];
	reg[UNWIND_IP] = regs->regs[12];
	reg[UNWIND_SP] = regs->sp;
	reg[UNWIND_RA] = regs->lr;
}

static inline void unwind_switch(unsigned long *reg, const struct thread_struct *thread)
{
	reg[UNWIND_R7] = thread->r4[3];
	reg[UNWIND_FP] = thread->r4[7];
	reg[UNWIND_SP] = thread->sp;
	reg[UNWIND_RA] = thread->lr;
}

/* In the middle of a function: its frame is found by fp. */
#define unwind_here(pc, reg)						\
	__asm__ volatile("mov %1, sp\n\tmov %2, fp\n\tmov %3, lr\n\tmov %4, r7\n\t" ADR " %0, ." \
			 : "=&r"(pc), "=&r"((reg)[UNWIND_SP]),		\
			   "=&r"((reg)[UNWIND_FP]), "=&r"((reg)[UNWIND_RA]), \
			   "=&r"((reg)[UNWIND_R7]))

static inline unsigned long unwind_strip(unsigned long address)
{
	return address & ~1ul;	/* set: T32 */
}

#endif
