/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

#include <asm/ptrace.h>
#include <asm/thread.h>

/* For linux/unwind.h. */
enum {
	UNWIND_SP,
	UNWIND_FP,	/* s8 */
	UNWIND_RA,
	UNWIND_AT,	/* in the port's stubs: the traced function's return address */
	UNWIND_V0,	/* in return_to_handler: its return address */
	UNWIND_PC,	/* in the port's stubs, and in the frame of an interrupt */
	UNWIND_NR
};

/* Columns of the tables: the register numbers of instructions. */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 1:
		return UNWIND_AT;
	case 2:
		return UNWIND_V0;
	case 29:
		return UNWIND_SP;
	case 30:
		return UNWIND_FP;
	case 31:
		return UNWIND_RA;
	case DWARF_PC:
		return UNWIND_PC;
	}
	return -1;
}

static inline void unwind_regs(unsigned long *reg, const struct pt_regs *regs)
{
	reg[UNWIND_AT] = regs->regs[1];
	reg[UNWIND_V0] = regs->regs[2];
	reg[UNWIND_SP] = regs->regs[29];
	reg[UNWIND_FP] = regs->regs[30];
	reg[UNWIND_RA] = regs->regs[31];
}

static inline void unwind_switch(unsigned long *reg, const struct thread_struct *thread)
{
	reg[UNWIND_SP] = thread->sp;
	reg[UNWIND_FP] = thread->fp;
	reg[UNWIND_RA] = thread->pc;	/* it was called from where it continues */
}

#ifdef CONFIG_64BIT
#define __unwind_la	"dla"
#else
#define __unwind_la	"la"
#endif

#define unwind_here(pc, reg)						\
	__asm__ volatile(						\
		"1:	" "move	%1, $sp\n\t"				\
		"move	%2, $fp\n\t"					\
		"move	%3, $ra\n\t"					\
		".set push\n\t"						\
		".set noat\n\t"						\
		__unwind_la "	%0, 1b\n\t"				\
		".set pop"						\
		: "=&r"(pc), "=&r"((reg)[UNWIND_SP]),			\
		  "=&r"((reg)[UNWIND_FP]), "=&r"((reg)[UNWIND_RA]))

static inline unsigned long unwind_strip(unsigned long address)
{
	return address;
}

#endif
