/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASM_H
#define _COMPAT_ASM_ASM_H

/* MIPS: macros of assembly, and the names of instructions on pointers. */
#include_next <asm/asm.h>

#include <linux/init.h>

#define __STR(x)	#x
#define STR(x)		__STR(x)

#define NESTED(symbol, frame_size, return_register)	\
	.globl	symbol;					\
	.align	2;					\
	.type	symbol, @function;			\
	.ent	symbol, 0;				\
symbol:	.frame	$29, frame_size, return_register

#define LEAF(symbol)	NESTED(symbol, 0, $31)

#define END(symbol)					\
	.end	symbol;					\
	.size	symbol, . - symbol

#ifdef CONFIG_64BIT
#define PTR_WD		.dword
#define PTR_L		ld
#define PTR_S		sd
#define PTR_LA		dla
#define PTR_ADDIU	daddiu
#define PTR_ADDU	daddu
#define PTR_SUBU	dsubu
#else
#define PTR_WD		.word
#define PTR_L		lw
#define PTR_S		sw
#define PTR_LA		la
#define PTR_ADDIU	addiu
#define PTR_ADDU	addu
#define PTR_SUBU	subu
#endif

#endif
