/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCH_H
#define _COMPAT_ASM_PATCH_H

#include <asm/cacheflush.h>
#include <linux/types.h>

/* Text is writable. */
static inline void __patch_text(void *address, u32 instruction)
{
	*(volatile u32 *)address = instruction;
	flush_icache_range((unsigned long)address, (unsigned long)address + 4);
}

#endif
