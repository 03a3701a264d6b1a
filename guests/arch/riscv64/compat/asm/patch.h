/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCH_H
#define _COMPAT_ASM_PATCH_H

#include <asm/cacheflush.h>
#include <linux/errno.h>
#include <linux/types.h>

/* Set while Linux has stopped the machine; here the debugger does that. */
static int riscv_patch_in_stop_machine __attribute__((unused));

/*
 * Text is writable. As in Linux, each instruction is a store of its own, or two where it does not
 * begin at a multiple of four.
 */
static inline int patch_text_nosync(void *address, const void *instructions, size_t size)
{
	const u16 *halves = instructions;
	const u32 *words = instructions;
	size_t i;

	if ((unsigned long)address % sizeof(*halves))
		return -EINVAL;
	if ((unsigned long)address % sizeof(*words)) {
		for (i = 0; i < size / sizeof(*halves); i++)
			((volatile u16 *)address)[i] = halves[i];
	} else {
		for (i = 0; i < size / sizeof(*words); i++)
			((volatile u32 *)address)[i] = words[i];
	}
	flush_icache_range((unsigned long)address, (unsigned long)address + size);
	return 0;
}

#endif
