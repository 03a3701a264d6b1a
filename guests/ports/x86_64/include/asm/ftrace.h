/* SPDX-License-Identifier: MIT */
/*
 * The x86-64 port's part of ftrace's interface. One form of call site (-pg -mfentry), five bytes at
 * any address, the first instruction of a function:
 *		rec->ip:	call	__fentry__
 *
 * The return address of the traced function is then the word above that of the call.
 */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/* The size of a site: ip = the return address of the call - MCOUNT_INSN_SIZE (C2). */
#define MCOUNT_INSN_SIZE	5

#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

#ifndef __ASSEMBLER__

extern void __fentry__(void);
extern void ftrace_graph_call(void);
extern void ftrace_call_meanwhile(void);

#define MCOUNT_ADDR		((unsigned long)__fentry__)

struct dyn_arch_ftrace {
	/* Empty: rec->ip is enough. */
};

static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

#endif
#endif
