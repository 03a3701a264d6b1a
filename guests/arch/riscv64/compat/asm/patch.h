/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCH_H
#define _COMPAT_ASM_PATCH_H

#include <asm/cacheflush.h>
#include <linux/string.h>

/* Set while Linux has stopped the machine; here the debugger does that. */
static int riscv_patch_in_stop_machine __attribute__((unused));

/* Text is writable. */
static inline int patch_text_nosync(void *address, const void *instructions, size_t size)
{
	memcpy(address, instructions, size);
	flush_icache_range((unsigned long)address, (unsigned long)address + size);
	return 0;
}

#endif
