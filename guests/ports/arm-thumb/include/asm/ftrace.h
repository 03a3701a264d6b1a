/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The port's part of ftrace's interface, for arm in T32. gcc's -pg calls __gnu_mcount_nc behind the
 * prologue, and pushes lr before the call, which is the call site:
 *
 *			push	{lr}
 *		rec->ip:	bl	__gnu_mcount_nc
 *
 * The called function pops the pushed word into lr, and may change ip. So a site that is off does
 * the same: pop.w {lr}. The bl has two halfwords and may begin at any of them.
 *
 * A module is beyond the reach of bl. Its sites call trampolines in the module
 * (module/ftrace_trampoline.S).
 */

/* From rec->ip to the return address of the call, which has bit 0 set for T32 (C2). */
#define MCOUNT_INSN_SIZE	4

/* C12: retp is the address of the return address, or sp at the entry if it is only in lr. */
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

#ifndef __ASSEMBLER__

extern void __gnu_mcount_nc(void);
extern void ftrace_graph_call(void);

#define MCOUNT_ADDR		((unsigned long)__gnu_mcount_nc)

struct dyn_arch_ftrace {
	/* Empty: rec->ip is enough. */
};

/* The table of call sites has the address of the bl. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

#endif
#endif
