/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_LINKAGE_H
#define _COMPAT_LINUX_LINKAGE_H

#include_next <linux/linkage.h>

/* Linux has global and local labels; here all are global. */
#undef SYM_INNER_LABEL
#define SYM_INNER_LABEL(name, ...)	\
	.globl name;			\
	name:

#define SYM_CODE_START(name)	SYM_FUNC_START(name)
#define SYM_CODE_END(name)	SYM_FUNC_END(name)

/* The same by their older names. */
#define ENTRY(name)		SYM_FUNC_START(name)
#define ENDPROC(name)		SYM_FUNC_END(name)

/* Calls in C are those of assembly. */
#define asmlinkage

#endif
