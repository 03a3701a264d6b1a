/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_UASM_H
#define _COMPAT_ASM_UASM_H

/* MIPS: encoding of a few instructions. */
#include <linux/types.h>

/* Whether lui and addiu can load it. */
static inline int uasm_in_compat_space_p(long address)
{
	return address == (s32)address;
}

/* lui, and addiu or daddiu, whose operand is signed. */
static inline void UASM_i_LA(u32 **buffer, unsigned int target, long address)
{
	u32 add = sizeof(long) == 8 ? 0x64000000 : 0x24000000;

	*(*buffer)++ = 0x3c000000 | target << 16 | ((address + 0x8000) >> 16 & 0xffff);
	*(*buffer)++ = add | target << 21 | target << 16 | (address & 0xffff);
}

static inline void uasm_i_j(u32 **buffer, unsigned long target)
{
	*(*buffer)++ = 0x08000000 | (target >> 2 & 0x03ffffff);
}

static inline void uasm_i_jal(u32 **buffer, unsigned long target)
{
	*(*buffer)++ = 0x0c000000 | (target >> 2 & 0x03ffffff);
}

#endif
