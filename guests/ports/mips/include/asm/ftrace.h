/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#define MCOUNT_ADDR		((unsigned long)_mcount)

/*
 * From the call site to where _mcount returns: the jal and its delay slot. A module's call site, a
 * long call, lies farther from there; how far its instructions say (long_call.h).
 */
#define MCOUNT_INSN_SIZE	8

#ifndef __ASSEMBLER__

void _mcount(void);
void ftrace_graph_call(void);

/* The table has the address of the jal, or of the long call's lui, which is what is patched. */
static inline unsigned long ftrace_call_adjust(unsigned long address)
{
	return address;
}

struct dyn_arch_ftrace {
	/* Nothing to remember: a site's form is the ABI's. */
};

#endif

#endif
