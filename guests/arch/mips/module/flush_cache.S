/* SPDX-License-Identifier: MIT */
/*
 * Linked into every module. gcc calls _flush_cache() with jal, even with -mlong-calls; this one is
 * in reach and jumps to the kernel's.
 */
#include <asm/asm.h>

	.set	noreorder

	.text
SYM_FUNC_START(_flush_cache)
	LONG_LA	$25, vmlinux._flush_cache
	jr	$25
	 nop
SYM_FUNC_END(_flush_cache)
