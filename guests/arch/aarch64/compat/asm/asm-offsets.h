/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASM_OFFSETS_H
#define _COMPAT_ASM_ASM_OFFSETS_H

/* Linux's names of the offsets in struct pt_regs. */
#include <asm/ptrace.h>
#include <linux/init.h>

#define S_X0		S_X(0)
#define S_X2		S_X(2)
#define S_X4		S_X(4)
#define S_X6		S_X(6)
#define S_X8		S_X(8)
#define S_X10		S_X(10)
#define S_X12		S_X(12)
#define S_X14		S_X(14)
#define S_X16		S_X(16)
#define S_X18		S_X(18)
#define S_X20		S_X(20)
#define S_X22		S_X(22)
#define S_X24		S_X(24)
#define S_X26		S_X(26)
#define S_X28		S_X(28)
#define S_FP		S_X(29)
#define S_LR		S_X(30)
#define S_STACKFRAME	S_RECORD
#define PT_REGS_SIZE	S_FRAME_SIZE

/* Of the port's struct ftrace_regs and of our struct ftrace_ops; asm/patching.h compares them. */
#define FREGS_X0		0
#define FREGS_X2		16
#define FREGS_X4		32
#define FREGS_X6		48
#define FREGS_X8		64
#define FREGS_DIRECT_TRAMP	72
#define FREGS_FP		80
#define FREGS_LR		88
#define FREGS_SP		96
#define FREGS_PC		104
#define FREGS_SIZE		112

#define FTRACE_OPS_FUNC		0
#define FTRACE_OPS_DIRECT_CALL	48

#endif
