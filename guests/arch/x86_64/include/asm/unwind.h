/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

#include <asm/ptrace.h>
#include <asm/thread.h>

#define UNWIND_INSN_ALIGN	1	/* instructions begin at any address */

/* For linux/unwind.h. */
enum {
	UNWIND_RA,
	UNWIND_SP,
	UNWIND_RBP,
	UNWIND_RAX,	/* in return_to_handler: its return address */
	UNWIND_R10,	/* in __switch_to */
	UNWIND_NR
};

/* The tables do not use the register numbers of the instructions. */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 0:
		return UNWIND_RAX;
	case 6:
		return UNWIND_RBP;
	case 7:
		return UNWIND_SP;
	case 10:
		return UNWIND_R10;
	case 16:
		return UNWIND_RA;
	}
	return -1;
}

static inline void unwind_regs(unsigned long *reg, const struct pt_regs *regs)
{
	reg[UNWIND_RA] = 0;
	reg[UNWIND_SP] = regs->sp;
	reg[UNWIND_RBP] = regs->bp;
	reg[UNWIND_RAX] = regs->ax;
	reg[UNWIND_R10] = regs->r10;
}

static inline void unwind_switch(unsigned long *reg, const struct thread_struct *thread)
{
	reg[UNWIND_RBP] = thread->rbp;
	reg[UNWIND_RA] = thread->ra;
	reg[UNWIND_SP] = thread->sp;
}

#define unwind_here(pc, reg)						\
	__asm__ volatile("leaq (%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" \
			 : "=&r"(pc), "=&r"((reg)[UNWIND_SP]), "=&r"((reg)[UNWIND_RBP]))

static inline unsigned long unwind_strip(unsigned long address)
{
	return address;
}

#endif
