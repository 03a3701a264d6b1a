/* SPDX-License-Identifier: MIT */
/*
 * The riscv64 port's part of ftrace's interface. Two forms of call site:
 *
 *	mcount (-pg), one instruction, behind the prologue, with a0 = ra:
 *		rec->ip:	jal	_mcount
 *
 *	patchable-entry (-fpatchable-function-entry=2), two, before the prologue:
 *		rec->ip:	mv	t0, ra
 *				jal	ftrace_caller
 *
 * The compiler's auipc and jalr become jal by the linker's relaxation, as the kernel is small. With
 * compressed instructions a site may begin at any even address, and a patchable entry is built as
 * four nops of two bytes (=4).
 *
 * A module is beyond the reach of jal. Its sites call trampolines in the module
 * (module/ftrace_trampoline.S).
 */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

#define RISCV_INSN_SIZE		4
#ifdef __riscv_compressed
#define RISCV_INSN_ALIGN	2
#else
#define RISCV_INSN_ALIGN	4
#endif

/* From rec->ip to the return address of the call: ip = ra - MCOUNT_INSN_SIZE (C2). */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define MCOUNT_INSN_SIZE	(2 * RISCV_INSN_SIZE)
#else
#define MCOUNT_INSN_SIZE	RISCV_INSN_SIZE
#endif

#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

#ifndef __ASSEMBLER__

extern void _mcount(void);
extern void ftrace_graph_call(void);

#define MCOUNT_ADDR		((unsigned long)_mcount)

struct dyn_arch_ftrace {
	/* Empty: rec->ip and the form of the build are enough. */
};

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
struct module;
struct dyn_ftrace;

/* As built, a patchable entry is two nops and not a call of _mcount. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec);
#define ftrace_init_nop ftrace_init_nop
#endif

static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

#endif
#endif
