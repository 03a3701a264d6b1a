/* SPDX-License-Identifier: MIT */
#ifndef _ASM_CP15_H
#define _ASM_CP15_H

/*
 * Modes, coprocessor 15 and translation tables (short descriptors). Source: Arm Architecture
 * Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406), B1.3, B3.5 and B4.1.
 */

/* CPSR */
#define PSR_MODE_MASK		0x1f
#define PSR_MODE_USR		0x10
#define PSR_MODE_SVC		0x13
#define PSR_MODE_ABT		0x17
#define PSR_MODE_UND		0x1b
#define PSR_MODE_SYS		0x1f	/* privileged, with the registers of user mode */
#define PSR_NOT_USR		0x0f	/* some of these bits are set in every other mode */
#define PSR_T_BIT		0x20
#define PSR_F_BIT		0x40
#define PSR_I_BIT		0x80

/* SCTLR */
#define SCTLR_M			(1 << 0)	/* translation */
#define SCTLR_A			(1 << 1)	/* alignment faults */
#define SCTLR_C			(1 << 2)	/* caches */
#define SCTLR_Z			(1 << 11)	/* branch prediction */
#define SCTLR_I			(1 << 12)
#define SCTLR_V			(1 << 13)	/* vectors at 0xffff0000 */
#define SCTLR_TRE		(1 << 28)	/* other memory attributes, */
#define SCTLR_AFE		(1 << 29)	/* other access rights, */
#define SCTLR_TE		(1 << 30)	/* exceptions in T32 */
#ifdef __thumb__
#define SCTLR_KERNEL_TE		SCTLR_TE
#else
#define SCTLR_KERNEL_TE		0
#endif

#define TTBR_WALK_CACHED	0x4a		/* inner and outer write-back, shareable */
#define DACR_CLIENT_0		1		/* domain 0: rights are checked */
#define CPACR_CP10_CP11		(0xf << 20)
#define FPEXC_EN		(1 << 30)
#define MPIDR_CPU		0xff

/* First level: sections of 1 MiB, and tables of 256 pages */
#define SECTION			(1 << 1)
#define SECTION_B		(1 << 2)
#define SECTION_C		(1 << 3)
#define SECTION_XN		(1 << 4)
#define SECTION_KERNEL		(1 << 10)	/* AP: the kernel alone, read and write */
#define SECTION_TEX0		(1 << 12)
#define SECTION_S		(1 << 16)
#define TABLE			(1 << 0)
#define TABLE_PXN		(1 << 2)

/* Second level: pages of 4 KiB */
#define PAGE_XN			(1 << 0)
#define PAGE			(1 << 1)
#define PAGE_B			(1 << 2)
#define PAGE_C			(1 << 3)
#define PAGE_USER		(3 << 4)	/* AP: everyone, read and write; */
#define PAGE_READ_ONLY		(1 << 9)	/* with this, read */
#define PAGE_TEX0		(1 << 6)
#define PAGE_S			(1 << 10)

/* DFSR and IFSR */
#define FSR_STATUS(fsr)		(((fsr) & 15) | ((fsr) >> 6 & 16))
#define DFSR_WNR		(1 << 11)

#endif
