/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#define MCOUNT_ADDR		((unsigned long)_mcount)
#define MCOUNT_INSN_SIZE	4

/* A call returns behind its delay slot: ra is the address of the jal plus this. */
#define MCOUNT_RETURN_OFFSET	8

#ifndef __ASSEMBLER__

void _mcount(void);

/* The table of call sites has the address of the jal, which is what is patched. */
static inline unsigned long ftrace_call_adjust(unsigned long address)
{
	return address;
}

struct dyn_arch_ftrace {
	/* Nothing to remember: a site's form is the ABI's. */
};

#endif

#endif
