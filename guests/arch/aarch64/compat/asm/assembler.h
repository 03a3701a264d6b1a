/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASSEMBLER_H
#define _COMPAT_ASM_ASSEMBLER_H

#include <asm/export.h>
#include <linux/cfi_types.h>
#include <linux/linkage.h>

/* Linux's functions in assembly begin with a landing pad; SYM_CODE has its own, or none. */
#undef SYM_CODE_START
#define SYM_CODE_START(name)	\
	.globl name;		\
	.type name, %function;	\
	name:

#undef SYM_FUNC_START
#define SYM_FUNC_START(name)	\
	SYM_CODE_START(name)	\
	hint #34 ;

/* There are no probes to keep away. */
#define NOKPROBE(symbol)

	/* The landing pad, by the number that every assembler knows. */
	.macro	bti targets
	.ifc	\targets, c
	hint	#34
	.else
	.error	"bti \targets is not known here"
	.endif
	.endm

	/* The address of a symbol, and the word there; \temporary if the register has 32 bits. */
	.macro	adr_l target, symbol
	adrp	\target, \symbol
	add	\target, \target, :lo12:\symbol
	.endm

	.macro	ldr_l target, symbol, temporary=
	.ifb	\temporary
	adrp	\target, \symbol
	ldr	\target, [\target, :lo12:\symbol]
	.else
	adrp	\temporary, \symbol
	ldr	\target, [\temporary, :lo12:\symbol]
	.endif
	.endm

#endif
