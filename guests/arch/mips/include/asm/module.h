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

/**
 * struct mod_arch_specific - what the port keeps of a module
 * @prologues:	a word for each instruction of its text, as for the kernel's, where the
 *		graph tracer has a use for them
 */
struct mod_arch_specific {
	unsigned int *prologues;
};

#define MODULE_ARCH_INIT

#endif

#endif
