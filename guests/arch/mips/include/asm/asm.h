/* SPDX-License-Identifier: MIT */
#ifndef _ASM_ASM_H
#define _ASM_ASM_H

/* For assembler files: operations on a register's full width, so that one source is both ABIs. */
#include <linux/linkage.h>

#if _MIPS_SIM == _ABI64
#define SZREG		8
#define LONG_S		sd
#define LONG_L		ld
#define LONG_LA		dla
#define LONG_ADDIU	daddiu
#define LONG_ADDU	daddu
#define LONG_MFC0	dmfc0
#define LONG_MTC0	dmtc0
#define LONG_SHIFT	3
#else
#define SZREG		4
#define LONG_S		sw
#define LONG_L		lw
#define LONG_LA		la
#define LONG_ADDIU	addiu
#define LONG_ADDU	addu
#define LONG_MFC0	mfc0
#define LONG_MTC0	mtc0
#define LONG_SHIFT	2
#endif

#endif
