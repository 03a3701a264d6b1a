/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MIPSREGS_H
#define _ASM_MIPSREGS_H

/*
 * Coprocessor 0, as far as this kernel uses it. Names and bits: MIPS Architecture For
 * Programmers, volume III, "Coprocessor 0 Registers".
 */
#define CP0_BADVADDR	$8
#define CP0_COUNT	$9
#define CP0_STATUS	$12
#define CP0_CAUSE	$13
#define CP0_EPC		$14
#define CP0_EBASE	$15, 1

#define ST0_IE		0x00000001	/* interrupts enabled */
#define ST0_EXL		0x00000002	/* in an exception */
#define ST0_UX		0x00000020	/* 64-bit addresses: user, */
#define ST0_SX		0x00000040	/* supervisor */
#define ST0_KX		0x00000080	/* and kernel segments */
#define ST0_BEV		0x00400000	/* exceptions go to the boot ROM */
#define ST0_FR		0x04000000	/* 32 floating-point registers of 64 bits */
#define ST0_CU0		0x10000000	/* coprocessor 0 usable */
#define ST0_CU1		0x20000000	/* floating point usable */

#define CAUSE_EXCCODE	0x0000007c
#define CAUSE_EXCCODE_SHIFT 2
#define CAUSE_BD	0x80000000	/* EPC is the branch, the next word was to blame */

#ifndef __ASSEMBLER__

#define __c0(name)	#name
#define _c0(name)	__c0(name)

#define read_c0_32(name)						\
({									\
	unsigned int value_;						\
	__asm__ volatile("mfc0 %0, " _c0(name) : "=r"(value_));		\
	value_;								\
})

#endif

#endif
