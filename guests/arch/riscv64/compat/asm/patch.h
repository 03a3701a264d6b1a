/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCH_H
#define _COMPAT_ASM_PATCH_H

#include <asm/cacheflush.h>
#include <linux/errno.h>
#include <linux/types.h>

/* Set while Linux has stopped the machine; here the debugger does that. */
static int riscv_patch_in_stop_machine __attribute__((unused));

/* Text is writable. As in Linux, each instruction is a store of its own. */
static inline int patch_text_nosync(void *address, const void *instructions, size_t size)
{
	const u32 *from = instructions;
	volatile u32 *to = address;
	size_t i;

	if ((unsigned long)address % sizeof(*to))
		return -EINVAL;
	for (i = 0; i < size / sizeof(*to); i++)
		to[i] = from[i];
	flush_icache_range((unsigned long)address, (unsigned long)address + size);
	return 0;
}

#endif
