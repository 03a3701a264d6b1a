/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASM_OFFSETS_H
#define _COMPAT_ASM_ASM_OFFSETS_H

/* Linux's names of the offsets in struct pt_regs. */
#include <asm/ptrace.h>
#include <linux/init.h>

#define PT_EPC		S_PC
#define PT_RA		S_X(1)
#define PT_SP		S_X(2)
#define PT_GP		S_X(3)
#define PT_TP		S_X(4)
#define PT_T0		S_X(5)
#define PT_T1		S_X(6)
#define PT_T2		S_X(7)
#define PT_S0		S_X(8)
#define PT_S1		S_X(9)
#define PT_A0		S_X(10)
#define PT_A1		S_X(11)
#define PT_A2		S_X(12)
#define PT_A3		S_X(13)
#define PT_A4		S_X(14)
#define PT_A5		S_X(15)
#define PT_A6		S_X(16)
#define PT_A7		S_X(17)
#define PT_S2		S_X(18)
#define PT_S3		S_X(19)
#define PT_S4		S_X(20)
#define PT_S5		S_X(21)
#define PT_S6		S_X(22)
#define PT_S7		S_X(23)
#define PT_S8		S_X(24)
#define PT_S9		S_X(25)
#define PT_S10		S_X(26)
#define PT_S11		S_X(27)
#define PT_T3		S_X(28)
#define PT_T4		S_X(29)
#define PT_T5		S_X(30)
#define PT_T6		S_X(31)

#define PT_SIZE_ON_STACK	S_FRAME_SIZE

#endif
