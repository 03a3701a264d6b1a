/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/*
 * Modules have memory behind the kernel's, but not at kseg0's address: that would be in reach of
 * jal. It is kseg1's, the same memory uncached; or with 64-bit addresses (-mno-sym32) that of
 * XKPHYS, cached.
 */
#ifdef CONFIG_MODULES_XKPHYS
#define MODULES_OFFSET		(0x9800000000000000 - 0xffffffff80000000)
#else
#define MODULES_OFFSET		0x20000000
#endif

#ifndef __ASSEMBLER__

struct mod_arch_specific {
	/* Nothing: what the graph tracer knows of a module is found by address. */
};

#define MODULE_ARCH_INIT

#endif

#endif
