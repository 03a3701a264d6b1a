/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_ASM_H
#define _COMPAT_ASM_ASM_H

/* RISC-V: loads and stores of whole registers. */
#include <linux/init.h>

#define REG_L	ld
#define REG_S	sd

#if defined(__ASSEMBLER__) && defined(CONFIG_DYNAMIC_FTRACE)
/* Slots have room for two instructions. Linux links the whole kernel so. */
	.option	norelax
#endif

#endif
