/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSREG_H
#define _ASM_SYSREG_H

/*
 * System register fields that the boot code and the exception dump use.
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487).
 */
/* 64-bit constants, for the assembler and for C. */
#ifdef __ASSEMBLER__
#define _UL(number)		(number)
#else
#define _UL(number)		(number##ul)
#endif

/* CurrentEL */
#define CURRENT_EL1		(1 << 2)
#define CURRENT_EL2		(2 << 2)

/* MPIDR_EL1.Aff0: the number of the CPU, on a virt machine with up to eight CPUs */
#define MPIDR_AFF0		0xff

/* SPSR_ELx, PSTATE */
#define PSR_MODE_MASK		0xf
#define PSR_MODE_EL0T		0x0
#define PSR_MODE_EL1H		0x5
#define PSR_F_BIT		(1 << 6)
#define PSR_I_BIT		(1 << 7)
#define PSR_A_BIT		(1 << 8)
#define PSR_D_BIT		(1 << 9)
#define PSR_DAIF		(PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT)

/* The immediate of msr daifset and msr daifclr */
#define DAIF_F			1
#define DAIF_I			2
#define DAIF_ALL		0xf

/* HCR_EL2: EL1 runs AArch64 and may use pointer authentication, if implemented */
#define HCR_RW			(1 << 31)
#define HCR_APK			(1 << 40)
#define HCR_API			(1 << 41)

/* CNTHCTL_EL2: EL1 may read the counter and use the physical timer */
#define CNTHCTL_EL1PCTEN	(1 << 0)
#define CNTHCTL_EL1PCEN		(1 << 1)

/* CPTR_EL2: the RES1 bits without VHE; nothing traps */
#define CPTR_EL2_RES1		0x33ff

/* CPACR_EL1.FPEN: floating point and SIMD do not trap at EL1 and EL0 */
#define CPACR_FPEN		(3 << 20)

/* SCTLR_EL1. The RES1 bits are those of Armv8.0; their later meanings are suitable too. */
#define SCTLR_M			(1 << 0)	/* MMU */
#define SCTLR_C			(1 << 2)	/* data cache */
#define SCTLR_SA		(1 << 3)	/* check the alignment of sp at EL1 */
#define SCTLR_SA0		(1 << 4)	/* ... and at EL0 */
#define SCTLR_I			(1 << 12)	/* instruction cache */
#define SCTLR_ENDB		(1 << 13)	/* pointer authentication, for each key */
#define SCTLR_ENDA		(1 << 27)
#define SCTLR_ENIB		(1 << 30)
#define SCTLR_ENIA		(1 << 31)
#define SCTLR_BT1		(1 << 36)	/* paciasp accepts calls, not jumps */
#define SCTLR_RES1		((1 << 11) | (1 << 20) | (1 << 22) | (1 << 23) | (1 << 28) | \
				 (1 << 29))

/* ID registers: the lowest bit of four-bit fields */
#define ID_AA64PFR1_BT		0		/* BTI */
#define ID_AA64ISAR1_APA	4		/* pointer authentication, algorithm QARMA5 */
#define ID_AA64ISAR1_API	8		/* ... implementation defined */
#define ID_AA64ISAR2_APA3	12		/* ... QARMA3 */

/* Registers without a name in an assembler for Armv8.0 */
#define SYS_ID_AA64ISAR2_EL1	S3_0_C0_C6_2
#define SYS_APIAKEYLO_EL1	S3_0_C2_C1_0
#define SYS_APIAKEYHI_EL1	S3_0_C2_C1_1
#define SYS_APIBKEYLO_EL1	S3_0_C2_C1_2
#define SYS_APIBKEYHI_EL1	S3_0_C2_C1_3
#define SYS_APDAKEYLO_EL1	S3_0_C2_C2_0
#define SYS_APDAKEYHI_EL1	S3_0_C2_C2_1
#define SYS_APDBKEYLO_EL1	S3_0_C2_C2_2
#define SYS_APDBKEYHI_EL1	S3_0_C2_C2_3

/* MAIR_EL1: the two kinds of memory, by index in a descriptor's AttrIndx */
#define MT_DEVICE_NGNRNE	0
#define MT_NORMAL		1
#define MAIR_VALUE		((0x00 << (8 * MT_DEVICE_NGNRNE)) | (0xff << (8 * MT_NORMAL)))

/* Translation table descriptors */
#define DESC_BLOCK		(1 << 0)
#define DESC_TABLE		(3 << 0)
#define DESC_PAGE		(3 << 0)
#define DESC_ATTR(index)	((index) << 2)
#define DESC_USER		(1 << 6)	/* EL0 has the rights of EL1 */
#define DESC_READ_ONLY		(1 << 7)
#define DESC_INNER_SHAREABLE	(3 << 8)
#define DESC_ACCESSED		(1 << 10)
#define DESC_GP			(_UL(1) << 50)	/* guarded page: BTI is checked */
#define DESC_PXN		(_UL(1) << 53)	/* not executable at EL1 */
#define DESC_UXN		(_UL(1) << 54)	/* ... at EL0 */

#define PAGE_NORMAL		(DESC_PAGE | DESC_ATTR(MT_NORMAL) | DESC_INNER_SHAREABLE | \
				 DESC_ACCESSED)

/* TCR_EL1: TTBR0 only, 39 bits of address, 4 KiB granule, write-back inner shareable walks */
#define TCR_T0SZ(bits)		(64 - (bits))
#define TCR_IRGN0_WBWA		(1 << 8)
#define TCR_ORGN0_WBWA		(1 << 10)
#define TCR_SH0_INNER		(3 << 12)
#define TCR_EPD1		(1 << 23)
#define TCR_IPS_40BITS		(2 << 32)
#define TCR_VALUE		(TCR_T0SZ(39) | TCR_IRGN0_WBWA | TCR_ORGN0_WBWA | TCR_SH0_INNER | \
				 TCR_EPD1 | TCR_IPS_40BITS)

/* ESR_ELx */
#define ESR_EC(esr)		(((esr) >> 26) & 0x3f)
#define ESR_EC_SVC		0x15
#define ESR_EC_IABT_LOWER	0x20
#define ESR_EC_IABT		0x21
#define ESR_EC_PC_ALIGNMENT	0x22
#define ESR_EC_DABT_LOWER	0x24
#define ESR_EC_DABT		0x25
#define ESR_EC_WATCHPOINT_LOWER	0x34
#define ESR_EC_WATCHPOINT	0x35
#define ESR_FNV			(1 << 10)	/* aborts: FAR is not valid */
#define ESR_WNR			(1 << 6)	/* data aborts: a write */
#define ESR_FSC(esr)		((esr) & 0x3f)	/* aborts: fault status */

#endif
