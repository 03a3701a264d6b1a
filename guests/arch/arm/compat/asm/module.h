/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_MODULE_H
#define _COMPAT_ASM_MODULE_H

#include_next <asm/module.h>

/* Of what Linux makes for any target there are two, of ../../module/plt.S; 0 is for no other. */
#define get_module_plt(module, pc, target)				\
	((target) == MCOUNT_ADDR ? (module)->arch.mcount_trampoline :	\
	 (target) == (unsigned long)ftrace_caller ? (module)->arch.ftrace_trampoline : 0)

#endif
