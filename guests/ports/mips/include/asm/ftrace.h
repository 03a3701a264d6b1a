/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#define MCOUNT_ADDR		((unsigned long)_mcount)

/*
 * From the call site to the return address of _mcount: the jal and its delay slot. The call site of
 * a module, a long call, is farther away, depending on its instructions (long_call.h).
 */
#define MCOUNT_INSN_SIZE	8

#ifndef __ASSEMBLER__

void _mcount(void);
void ftrace_graph_call(void);

/* The table has the address of the jal, or of the long call's lui, which is patched. */
static inline unsigned long ftrace_call_adjust(unsigned long address)
{
	return address;
}

struct dyn_arch_ftrace {
	/* Empty: the form of a site is that of the ABI. */
};

#endif

#endif
