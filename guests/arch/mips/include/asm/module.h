/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/*
 * Modules are loaded after the kernel, at addresses out of reach of jal: in kseg1, the same memory
 * uncached; or with 64-bit addresses (-mno-sym32) in XKPHYS, cached.
 */
#ifdef CONFIG_MODULES_XKPHYS
#define MODULES_OFFSET		(0x9800000000000000 - 0xffffffff80000000)
#else
#define MODULES_OFFSET		0x20000000
#endif

#ifndef __ASSEMBLER__

struct mod_arch_specific {
	/* Empty: the graph tracer's data of a module is found by address. */
};

#define MODULE_ARCH_INIT

#endif

#endif
