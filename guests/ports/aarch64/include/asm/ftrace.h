/* SPDX-License-Identifier: MIT */
/*
 * The AArch64 port's part of ftrace's interface. Two forms of call site:
 *
 *	mcount (-pg), one instruction, behind the prologue:
 *		rec->ip:	bl	_mcount
 *
 *	patchable-entry (-fpatchable-function-entry=2), two, before the prologue:
 *		rec->ip:	mov	x9, x30
 *				bl	ftrace_caller
 */
#ifndef ASM_FTRACE_H
#define ASM_FTRACE_H

#define AARCH64_INSN_SIZE	4

/* From rec->ip to the return address of the call: what the stub takes off x30 to get ip (C2). */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define MCOUNT_INSN_SIZE	(2 * AARCH64_INSN_SIZE)
#else
#define MCOUNT_INSN_SIZE	AARCH64_INSN_SIZE
#endif

#ifndef __ASSEMBLER__

extern void _mcount(void);

#define MCOUNT_ADDR		((unsigned long)_mcount)

struct dyn_arch_ftrace {
	/* rec->ip and the build's form say everything. */
};

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
struct module;
struct dyn_ftrace;

/* As built, a patchable entry is two nops and no call of _mcount. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec);
#define ftrace_init_nop ftrace_init_nop
#endif

/*
 * Both tables of call sites hold what rec->ip has to be. For patchable entries that takes a
 * compiler that writes the address behind a `bti c` into its table, as gcc does.
 */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

#endif
#endif
