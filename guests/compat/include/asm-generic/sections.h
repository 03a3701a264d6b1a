/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_GENERIC_SECTIONS_H
#define _COMPAT_ASM_GENERIC_SECTIONS_H

#include <linux/types.h>

extern char _stext[], _etext[];

static inline int core_kernel_text(unsigned long address)
{
	return address >= (unsigned long)_stext && address < (unsigned long)_etext;
}

/* There is no separate section for initialisation code. */
static inline int is_kernel_inittext(unsigned long address)
{
	return 0;
}

#endif
