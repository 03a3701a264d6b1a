/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_LINKAGE_H
#define _LINUX_LINKAGE_H

#ifdef __ASSEMBLER__

/* A global function with type and size, which the harness needs for its symbol table. */
#define SYM_FUNC_START(name)	\
	.globl name;		\
	.type name, %function;	\
	name:

#define SYM_FUNC_END(name)	\
	.size name, . - name

/* A global label inside a function, without a size. */
#define SYM_INNER_LABEL(name)	\
	.globl name;		\
	name:

#endif

#endif
