/* SPDX-License-Identifier: MIT */
/* The registers saved at an exception. The S_ offsets are for assembly (traps.c checks them). */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

/* Saved by entry.S, from rsp up; then by the stubs of the vectors, then by the CPU. */
#define S_R15			0
#define S_R10			(5 * 8)
#define S_AX			(8 * 8)
#define S_BP			(13 * 8)
#define S_BX			(14 * 8)
#define S_SYSCALLNO		(16 * 8)
#define S_VECTOR		(17 * 8)
#define S_ERROR			(18 * 8)
#define S_PC			(19 * 8)
#define S_CS			(20 * 8)
#define S_FLAGS			(21 * 8)
#define S_SP			(22 * 8)
#define S_FRAME_SIZE		(24 * 8)

#define NO_SYSCALL		(-1)

#ifndef __ASSEMBLER__

#include <linux/types.h>

/**
 * struct pt_regs - the interrupted registers
 * @r15:	and the other general registers
 * @syscallno:	system calls: the number, else NO_SYSCALL
 * @vector:	the exception or interrupt
 * @error:	the exception's error code, or 0
 * @pc:		rip
 * @flags:	rflags
 */
struct pt_regs {
	u64 r15, r14, r13, r12, r11, r10, r9, r8;
	u64 ax, cx, dx, si, di;
	u64 bp, bx;
	u64 unused;
	s64 syscallno;
	u64 vector;
	u64 error;
	u64 pc;
	u64 cs;
	u64 flags;
	u64 sp;
	u64 ss;
};

#define user_mode(regs)			(((regs)->cs & 3) != 0)
#define instruction_pointer(regs)	((unsigned long)(regs)->pc)
#define kernel_stack_pointer(regs)	((unsigned long)(regs)->sp)

#endif
#endif
