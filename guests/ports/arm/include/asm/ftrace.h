/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The arm port's part of ftrace's interface. gcc's -pg calls __gnu_mcount_nc behind the prologue,
 * and pushes lr before the call, which is the call site:
 *
 *			push	{lr}
 *		rec->ip:	bl	__gnu_mcount_nc
 *
 * The called function pops the pushed word into lr, and may change ip. So a site that is off does
 * the same: pop {lr}.
 *
 * With gcc's -mapcs-frame the prologue stores fp, sp, lr and pc, and fp points to the last of the
 * four. With clang it stores fp and lr, and fp points to the first. The function returns to the lr
 * stored there.
 *
 * A module is beyond the reach of bl. Its sites call trampolines in the module
 * (module/ftrace_trampoline.S).
 */

/* From rec->ip to the return address of the call: ip = lr - MCOUNT_INSN_SIZE (C2). */
#define MCOUNT_INSN_SIZE	4

/* C12: retp is the address of the return address. */
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
