/* SPDX-License-Identifier: MIT */
/* The registers an exception saves; the S_ offsets are for assembly (traps.c checks them). */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

#define S_X(n)			((n) * 8)
#define S_SP			(31 * 8)
#define S_PC			(32 * 8)
#define S_PSTATE		(33 * 8)
#define S_FRAME_SIZE		(34 * 8)

#ifndef __ASSEMBLER__

#include <linux/types.h>

struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};

#endif
#endif
