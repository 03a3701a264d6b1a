/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

/* Offsets of struct pt_regs for entry.S, which knows SZREG. traps.c checks them. */
#define PT_R(n)		((n) * SZREG)
#define PT_LO		(32 * SZREG)
#define PT_HI		(33 * SZREG)
#define PT_EPC		(34 * SZREG)
#define PT_BADVADDR	(35 * SZREG)
#define PT_STATUS	(36 * SZREG)
#define PT_CAUSE	(37 * SZREG)
#define PT_SYSCALL	(38 * SZREG)
#define PT_SIZE		(40 * SZREG)	/* a multiple of the stack's alignment */

/* epc as a column of unwind information, with an unused number. */
#define DWARF_PC	72

#ifndef __ASSEMBLER__

#include <asm/mipsregs.h>

/**
 * struct pt_regs - the registers at an exception
 * @regs:	$0 to $31; $26 and $27 (k0, k1) are lost to the handler and 0
 * @lo:		the multiplier's results; 0 in release 6, which has no such registers
 * @hi:		likewise
 * @epc:	the interrupted instruction, or the branch before it: see CAUSE_BD
 * @badvaddr:	the faulting address, if any
 * @status:	Status, with ST0_EXL
 * @cause:	Cause
 * @syscall:	system calls: the number ($v0 has the result); else -1
 * @reserved:	0
 */
struct pt_regs {
	unsigned long regs[32];
	unsigned long lo;
	unsigned long hi;
	unsigned long epc;
	unsigned long badvaddr;
	unsigned long status;
	unsigned long cause;
	long syscall;
	unsigned long reserved;
};

#define user_mode(regs)			(((regs)->status & ST0_UM) != 0)
#define instruction_pointer(regs)	((regs)->epc)
#define kernel_stack_pointer(regs)	((regs)->regs[29])

#endif

#endif
