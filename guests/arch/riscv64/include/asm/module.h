/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/* Behind the kernel's heap, beyond the reach of jal, and within the reach of auipc. */
#define MODULES_OFFSET		0

#ifndef __ASSEMBLER__

#include <linux/compiler.h>

/**
 * struct mod_arch_specific - where a module's call sites go, whose jal cannot reach the kernel
 * @mcount_trampoline:	jumps to _mcount; 0 in ports without it
 * @ftrace_trampoline:	jumps to ftrace_caller; 0 in static ports
 * @ftrace_regs_trampoline: jumps to ftrace_regs_caller; 0 in ports without it
 */
struct mod_arch_specific {
	unsigned long mcount_trampoline;
	unsigned long ftrace_trampoline;
	unsigned long ftrace_regs_trampoline;
};

extern const char module_mcount[] __asm__("_mcount") __weak;
extern const char ftrace_trampoline[] __weak;
extern const char ftrace_regs_trampoline[] __weak;

#define MODULE_ARCH_INIT						\
	.arch = {							\
		.mcount_trampoline = (unsigned long)module_mcount,	\
		.ftrace_trampoline = (unsigned long)ftrace_trampoline,	\
		.ftrace_regs_trampoline = (unsigned long)ftrace_regs_trampoline, \
	},

#endif

#endif
