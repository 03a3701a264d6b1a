/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASSEMBLER_H
#define _COMPAT_ASM_ASSEMBLER_H

#include <asm/export.h>
#include <linux/init.h>
#include <linux/linkage.h>

	.syntax unified

/* Of two lines for the two instruction sets, the one in which the guest is built. */
#ifdef __thumb__
#define ARM(line...)
#define THUMB(line...)	line
#else
#define ARM(line...)	line
#define THUMB(line...)
#endif

	/* The frame pointer. */
	THUMB(fpreg	.req	r7)
	ARM(fpreg	.req	r11)

	/* The address of a function of the same file, as a branch takes it. */
	.macro	badr target, label
	adr	\target, \label THUMB(+ 1)
	.endm

	.macro	mov_l target, value
	movw	\target, #:lower16:\value
	movt	\target, #:upper16:\value
	.endm

	/* The word at a symbol. */
	.macro	ldr_va target, symbol
	mov_l	\target, \symbol
	ldr	\target, [\target]
	.endm

	.macro	ret register
	bx	\register
	.endm

#endif
