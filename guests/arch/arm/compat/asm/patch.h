/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_PATCH_H
#define _COMPAT_ASM_PATCH_H

#include <asm/cacheflush.h>
#include <asm/opcodes.h>
#include <linux/types.h>

/*
 * Text is writable. Of T32, in which an instruction of four bytes need not begin at a multiple of
 * four, the half that comes first is stored first.
 */
static inline void __patch_text(void *address, u32 instruction)
{
#ifdef __thumb__
	volatile u16 *half = address;

	if ((unsigned long)address & 2) {
		half[0] = instruction >> 16;
		half[1] = instruction;
	} else {
		*(volatile u32 *)address = __opcode_to_mem_thumb32(instruction);
	}
#else
	*(volatile u32 *)address = __opcode_to_mem_arm(instruction);
#endif
	flush_icache_range((unsigned long)address, (unsigned long)address + 4);
}

#endif
