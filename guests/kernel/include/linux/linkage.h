/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_LINKAGE_H
#define _LINUX_LINKAGE_H

#ifdef __ASSEMBLER__

/* A function that other files call, with type and size: the harness looks names up by size. */
#define SYM_FUNC_START(name)	\
	.globl name;		\
	.type name, @function;	\
	name:

#define SYM_FUNC_END(name)	\
	.size name, . - name

/* A place inside a function that others have to find; it has no size of its own. */
#define SYM_INNER_LABEL(name)	\
	.globl name;		\
	name:

#endif

#endif
