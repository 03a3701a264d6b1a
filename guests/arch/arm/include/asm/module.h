/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/* Behind the kernel's heap, beyond the reach of bl; the linker makes veneers for other calls. */
#define MODULES_OFFSET		0

#ifndef __ASSEMBLER__

#include <linux/compiler.h>

/**
 * struct mod_arch_specific - where a module's call sites go, whose bl cannot reach the kernel
 * @mcount_trampoline:	jumps to __gnu_mcount_nc
 * @ftrace_trampoline:	jumps to ftrace_caller; 0 in static ports
 */
struct mod_arch_specific {
	unsigned long mcount_trampoline;
	unsigned long ftrace_trampoline;
};

extern const char module_mcount[] __asm__("__gnu_mcount_nc");
extern const char ftrace_trampoline[] __weak;

#define MODULE_ARCH_INIT						\
	.arch = {							\
		.mcount_trampoline = (unsigned long)module_mcount,	\
		.ftrace_trampoline = (unsigned long)ftrace_trampoline,	\
	},

#endif

#endif
