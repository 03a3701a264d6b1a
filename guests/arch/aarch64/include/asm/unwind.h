/* SPDX-License-Identifier: MIT */
#ifndef ASM_UNWIND_H
#define ASM_UNWIND_H

#include <asm/ptrace.h>

/* What linux/unwind.h wants to know. Besides sp and x29 no register holds a frame's address. */
enum {
	UNWIND_X0,	/* in return_to_handler: where it returns to */
	UNWIND_X9,	/* at a patchable entry: who called the traced function */
	UNWIND_FP,
	UNWIND_RA,
	UNWIND_SP,
	UNWIND_PC,	/* in the frame of an interrupt */
	UNWIND_NR
};

/* Columns: DWARF for the Arm 64-bit Architecture (AADWARF64). */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 0:
		return UNWIND_X0;
	case 9:
		return UNWIND_X9;
	case 29:
		return UNWIND_FP;
	case 30:
		return UNWIND_RA;
	case 31:
		return UNWIND_SP;
	case DWARF_PC:
		return UNWIND_PC;
	}
	return -1;
}

/* Without a signature. */
static inline unsigned long unwind_strip(unsigned long address)
{
	register unsigned long x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));		/* xpaclri; a nop where no CPU signs */
	return x30;
}

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
/* There is no word with the return address yet when it is taken: see the port's asm/ftrace.h. */
#define unwind_retp(registers, where)	((void)(where), (registers)[UNWIND_SP])
#endif

#endif
