/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_UNWIND_H
#define _COMPAT_ASM_UNWIND_H

#ifndef __ASSEMBLER__

#include_next <asm/unwind.h>

#elif defined(CONFIG_UNWINDER_FRAME_POINTER)

#define UNWIND(directive...)

#else

/*
 * The directives of the EABI's tables, which describe a whole function. Our unwinder reads DWARF's
 * tables, which describe each instruction; these are for a stub behind the site's push.
 */
#define UNWIND(directive...)	eabi##directive

	.cfi_sections .eh_frame

	.macro	eabi.fnstart
	.cfi_startproc
	.endm

	.macro	eabi.fnend
	.cfi_endproc
	.endm

	.macro	eabi.pad bytes
	.ifeqs	"\bytes", "#4"
	.cfi_adjust_cfa_offset 4
	.else
	.error	".pad \bytes is not known here"
	.endif
	.endm

	.macro	eabi.save registers:vararg
	.ifeqs	"\registers", "{r0-r3,lr}"
	.cfi_adjust_cfa_offset 20
	.cfi_offset lr, -8
	.else
	.error	".save \registers is not known here"
	.endif
	.endm

#endif

#endif
