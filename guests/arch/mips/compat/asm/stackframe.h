/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_STACKFRAME_H
#define _COMPAT_ASM_STACKFRAME_H

/* MIPS: offsets in a frame for all registers; on o32 above the callee's home area. */
#include <asm/asm.h>

#ifdef CONFIG_64BIT
#define PT_R(n)		((n) * SZREG)
#else
#define PT_R(n)		(32 + (n) * SZREG)
#endif

#define PT_R0		PT_R(0)
#define PT_R1		PT_R(1)
#define PT_R2		PT_R(2)
#define PT_R3		PT_R(3)
#define PT_R4		PT_R(4)
#define PT_R5		PT_R(5)
#define PT_R6		PT_R(6)
#define PT_R7		PT_R(7)
#define PT_R8		PT_R(8)
#define PT_R9		PT_R(9)
#define PT_R10		PT_R(10)
#define PT_R11		PT_R(11)
#define PT_R12		PT_R(12)
#define PT_R13		PT_R(13)
#define PT_R14		PT_R(14)
#define PT_R15		PT_R(15)
#define PT_R16		PT_R(16)
#define PT_R17		PT_R(17)
#define PT_R18		PT_R(18)
#define PT_R19		PT_R(19)
#define PT_R20		PT_R(20)
#define PT_R21		PT_R(21)
#define PT_R22		PT_R(22)
#define PT_R23		PT_R(23)
#define PT_R24		PT_R(24)
#define PT_R25		PT_R(25)
#define PT_R26		PT_R(26)
#define PT_R27		PT_R(27)
#define PT_R28		PT_R(28)
#define PT_R29		PT_R(29)
#define PT_R30		PT_R(30)
#define PT_R31		PT_R(31)

/* 32 of them and six more, which makes a multiple of the stack's alignment. */
#define PT_SIZE		PT_R(38)

#endif
