/* SPDX-License-Identifier: MIT */
/* Segment selectors and their table. AMD64 Architecture Programmer's Manual, volume 2, chapter 4 */
#ifndef _ASM_SEGMENT_H
#define _ASM_SEGMENT_H

#define KERNEL_CS32		0x08
#define KERNEL_CS		0x10
#define KERNEL_DS		0x18
#define USER_DS			(0x20 | 3)
#define USER_CS			(0x28 | 3)
#define TSS_SELECTOR(cpu)	(0x30 + (cpu) * 16)

#define USER_CALL_VECTOR	0x80		/* int $0x80: a system call */

#define MSR_EFER		0xc0000080
#define EFER_LME		(1 << 8)
#define EFER_NXE		(1 << 11)
#define MSR_FS_BASE		0xc0000100
#define MSR_GS_BASE		0xc0000101
#define MSR_KERNEL_GS_BASE	0xc0000102

#define CR0_BOOT		0x80010033	/* PG, WP, NE, ET, MP, PE */
#define CR4_BOOT		0x001006a0	/* SMEP, OSXMMEXCPT, OSFXSR, PGE, PAE */

#endif
