/* SPDX-License-Identifier: MIT */
/*
 * Control and status registers, translation, and the machine's devices.
 * Source: The RISC-V Instruction Set Manual, volume II; The RISC-V Advanced Interrupt Architecture.
 */
#ifndef _ASM_CSR_H
#define _ASM_CSR_H

#ifdef __ASSEMBLER__
#define _UL(number)		(number)
#else
#define _UL(number)		(number##ul)
#endif

/* sstatus and mstatus */
#define SSTATUS_SIE		(1 << 1)
#define SSTATUS_SPIE		(1 << 5)
#define SSTATUS_SPP		(1 << 8)
#define SSTATUS_FS		(3 << 13)	/* floating point is on, and dirty */
#define SSTATUS_SUM		(1 << 18)	/* the kernel may read what is the user's */
#define MSTATUS_MIE		(1 << 3)
#define MSTATUS_MPP_S		(1 << 11)

/* mideleg, sie */
#define INT_SOFTWARE		1
#define INT_TIMER		5
#define INT_EXTERNAL		9
#define INT_ALL			((1 << INT_SOFTWARE) | (1 << INT_TIMER) | (1 << INT_EXTERNAL))
#define MIE_MSIE		(1 << 3)

#define MEDELEG_ALL		0xb1ff		/* all but the calls of S and M */
#define PMP_NAPOT_RWX		0x1f
#define COUNTEREN_ALL		7
#define CSR_MENVCFG		0x30a
#define MENVCFG_STCE_BIT	63		/* S may use stimecmp */
#define CSR_STIMECMP		0x14d

/* Of an IMSIC: AIA, chapter 2 */
#define CSR_SISELECT		0x150
#define CSR_SIREG		0x151
#define CSR_STOPEI		0x15c

/* scause */
#define CAUSE_INTERRUPT		(_UL(1) << 63)
#define CAUSE_BREAKPOINT	3
#define CAUSE_USER_CALL		8

/* satp, page table entries: Sv39 */
#define SATP_SV39		8
#define SATP_MODE_SHIFT		60
#define PTE_V			0x01
#define PTE_R			0x02
#define PTE_W			0x04
#define PTE_X			0x08
#define PTE_U			0x10
#define PTE_G			0x20
#define PTE_A			0x40
#define PTE_D			0x80
#define PTE_ADDRESS_SHIFT	2		/* right, from an address to its bits in an entry */

/* CLINT: one word for each hart raises its machine software interrupt */
#define CLINT_MSIP		0x02000000

#endif
