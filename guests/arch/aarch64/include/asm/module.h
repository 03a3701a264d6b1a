/* SPDX-License-Identifier: MIT */
#ifndef _ASM_MODULE_H
#define _ASM_MODULE_H

/*
 * Modules are loaded after the kernel, at addresses in reach of adrp but not of bl: mmu.S maps all
 * memory a second time at MODULES_ALIAS.
 */
#define MODULES_ALIAS		0xc0000000
#define MODULES_OFFSET		(MODULES_ALIAS - 0x40000000)

#ifndef __ASSEMBLER__

/* Of module/plt.S: two instructions, and the address to which they jump. */
struct plt_entry {
	unsigned int insn[2];
	unsigned long target;
};

/**
 * struct mod_arch_specific - where a module's call sites go, whose bl cannot reach the kernel
 * @mcount_trampoline:	jumps to _mcount; 0 in ports without it
 * @ftrace_trampoline:	jumps to ftrace_caller; 0 in static ports
 * @ftrace_regs_trampoline: jumps to ftrace_regs_caller; 0 in ports without it
 * @ftrace_trampolines: Linux's name of both, for ports that take them for an array of PLTs
 */
struct mod_arch_specific {
	unsigned long mcount_trampoline;
	unsigned long ftrace_trampoline;
	unsigned long ftrace_regs_trampoline;
	struct plt_entry *ftrace_trampolines;
};

extern const char module_mcount[] __asm__("_mcount") __weak;
extern const char ftrace_trampoline[] __weak;
extern const char ftrace_regs_trampoline[] __weak;

#define MODULE_ARCH_INIT						\
	.arch = {							\
		.mcount_trampoline = (unsigned long)module_mcount,	\
		.ftrace_trampoline = (unsigned long)ftrace_trampoline,	\
		.ftrace_regs_trampoline = (unsigned long)ftrace_regs_trampoline, \
		.ftrace_trampolines = (struct plt_entry *)ftrace_trampoline, \
	},

#endif

#endif
