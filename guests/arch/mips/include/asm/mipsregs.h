/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MIPSREGS_H
#define _ASM_MIPSREGS_H

/*
 * The coprocessor 0 registers used by this kernel. Names and bits: MIPS Architecture For
 * Programmers, volume III, "Coprocessor 0 Registers".
 */
#define CP0_INDEX	$0
#define CP0_ENTRYLO0	$2
#define CP0_ENTRYLO1	$3
#define CP0_PAGEMASK	$5
#define CP0_WIRED	$6
#define CP0_BADVADDR	$8
#define CP0_COUNT	$9
#define CP0_ENTRYHI	$10
#define CP0_COMPARE	$11
#define CP0_STATUS	$12
#define CP0_CAUSE	$13
#define CP0_EPC		$14
#define CP0_EBASE	$15, 1
#define CP0_CONFIG1	$16, 1
#define CP0_CONFIG3	$16, 3

#define ST0_IE		0x00000001	/* interrupts enabled */
#define ST0_EXL		0x00000002	/* in an exception */
#define ST0_UM		0x00000010	/* user mode, but not in an exception */
#define ST0_UX		0x00000020	/* 64-bit addresses: user, */
#define ST0_SX		0x00000040	/* supervisor */
#define ST0_KX		0x00000080	/* and kernel segments */
#define ST0_IM(n)	(0x100 << (n))	/* interrupt line n is unmasked */
#define ST0_BEV		0x00400000	/* exceptions go to the boot ROM */
#define ST0_FR		0x04000000	/* 32 floating-point registers of 64 bits */
#define ST0_CU0		0x10000000	/* coprocessor 0 usable */
#define ST0_CU1		0x20000000	/* floating point usable */

#define CAUSE_IP(n)	(0x100 << (n))	/* interrupt line n is raised; 0 and 1 by software */
#define CAUSE_DC	0x08000000	/* Count is stopped */
#define CAUSE_EXCCODE	0x0000007c
#define CAUSE_EXCCODE_SHIFT 2
#define CAUSE_BD	0x80000000	/* exception in the delay slot of EPC's branch */

#define CAUSE_EXCCODE_SYS 8		/* a system call */

#define EBASE_CPU_BITS	10		/* EBase: the lowest bits are the number of the CPU */

#define CONFIG3_CMGCR	0x20000000	/* a coherent processing system: asm/cps.h */

#ifndef __ASSEMBLER__

#define __c0(...)	#__VA_ARGS__
#define _c0(...)	__c0(__VA_ARGS__)

#define read_c0_32(name)						\
({									\
	unsigned int value_;						\
	__asm__ volatile("mfc0 %0, " _c0(name) : "=r"(value_));		\
	value_;								\
})

/* ehb: the following instructions use the new value. */
#define write_c0_32(name, value)					\
	__asm__ volatile("mtc0 %z0, " _c0(name) "; ehb"			\
			 : : "Jr"((unsigned int)(value)) : "memory")

#endif

#endif
