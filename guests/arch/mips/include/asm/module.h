/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/*
 * Modules have the last 8 MiB of 128 MiB of memory, but not at kseg0's address: that would be in
 * reach of jal. It is kseg1's, the same memory uncached; or with 64-bit addresses (-mno-sym32)
 * that of XKPHYS, cached.
 */
#define MODULES_PHYSICAL	0x07800000
#ifdef CONFIG_MODULES_XKPHYS
#define MODULES_VADDR		(0x9800000000000000 + MODULES_PHYSICAL)
#elif defined(CONFIG_64BIT)
#define MODULES_VADDR		(0xffffffffa0000000 + MODULES_PHYSICAL)
#else
#define MODULES_VADDR		(0xa0000000 + MODULES_PHYSICAL)
#endif
#define MODULE_SIZE		0x100000

#ifndef __ASSEMBLER__

/**
 * struct mod_arch_specific - what the port keeps of a module
 * @prologues:	a word for each instruction of its text, as for the kernel's; may be NULL
 */
struct mod_arch_specific {
	unsigned int *prologues;
};

#define MODULE_ARCH_INIT

#endif

#endif
