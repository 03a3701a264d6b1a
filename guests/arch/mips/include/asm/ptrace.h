/* SPDX-License-Identifier: MIT */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

/* Offsets of struct pt_regs for vectors.S, which knows SZREG. traps.c checks them. */
#define PT_R(n)		((n) * SZREG)
#define PT_LO		(32 * SZREG)
#define PT_HI		(33 * SZREG)
#define PT_EPC		(34 * SZREG)
#define PT_BADVADDR	(35 * SZREG)
#define PT_STATUS	(36 * SZREG)
#define PT_CAUSE	(37 * SZREG)
#define PT_SIZE		(38 * SZREG)

#ifndef __ASSEMBLER__

/**
 * struct pt_regs - the CPU when an exception hit it
 * @regs:	$0 to $31; $26 and $27 (k0, k1) are lost to the handler and 0
 */
struct pt_regs {
	unsigned long regs[32];
	unsigned long lo;
	unsigned long hi;
	unsigned long epc;
	unsigned long badvaddr;
	unsigned long status;
	unsigned long cause;
};

#endif

#endif
