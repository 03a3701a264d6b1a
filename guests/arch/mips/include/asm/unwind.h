/* SPDX-License-Identifier: MIT */
#ifndef _ASM_UNWIND_H
#define _ASM_UNWIND_H

/* What linux/unwind.h wants to know. */
enum {
	UNWIND_SP,
	UNWIND_FP,	/* s8 */
	UNWIND_RA,
	UNWIND_AT,	/* in the port's stubs: who called the traced function */
	UNWIND_NR
};

/* The tables number registers as the instructions do. */
static inline int unwind_register(unsigned long column)
{
	switch (column) {
	case 1:
		return UNWIND_AT;
	case 29:
		return UNWIND_SP;
	case 30:
		return UNWIND_FP;
	case 31:
		return UNWIND_RA;
	}
	return -1;
}

static inline unsigned long unwind_strip(unsigned long address)
{
	return address;
}

#endif
