/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCHING_H
#define _COMPAT_ASM_PATCHING_H

#include <linux/errno.h>
#include <linux/types.h>

#include <asm/cacheflush.h>

static inline int aarch64_insn_read(void *address, u32 *instruction)
{
	*instruction = *(volatile u32 *)address;
	return 0;
}

static inline int aarch64_insn_patch_text_nosync(void *address, u32 instruction)
{
	if ((unsigned long)address & 3)
		return -EINVAL;
	*(volatile u32 *)address = instruction;
	flush_icache_range((unsigned long)address, (unsigned long)address + 4);
	return 0;
}

#endif
