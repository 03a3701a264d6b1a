/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The AArch64 port's part of ftrace's interface. Two forms of call site:
 *
 *	mcount (-pg), one instruction, behind the prologue:
 *		rec->ip:	bl	_mcount
 *
 *	patchable-entry (-fpatchable-function-entry=2), two, before the prologue:
 *		rec->ip:	mov	x9, x30
 *				bl	ftrace_caller
 *
 * A module lies beyond the reach of bl. Its sites call trampolines that it brings along
 * (module/ftrace_trampoline.S).
 *
 * With pac-ret the prologue signs the return address: the form mcount finds it signed in the
 * frame record, a patchable entry has it unsigned in x9 and its prologue signs what we leave in x30.
 */
#define AARCH64_INSN_SIZE	4

/* From rec->ip to the return address of the call: what the stub takes off x30 to get ip (C2). */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define MCOUNT_INSN_SIZE	(2 * AARCH64_INSN_SIZE)
#else
#define MCOUNT_INSN_SIZE	AARCH64_INSN_SIZE
#endif

/*
 * C12. The form mcount gives the address of the word that holds the return address. Behind a
 * patchable entry that word does not exist yet; there the stack pointer stands for it that the
 * traced function is entered with, below which its frame will lie.
 */
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

/* The landing pad for indirect calls; CPUs without BTI take the hint for a nop. */
#define INSN_BTI_C		0xd503245f

#ifndef __ASSEMBLER__

extern void _mcount(void);
extern void ftrace_graph_call(void);

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
 * From an entry of the table of call sites to rec->ip (C8, B34). gcc's table of patchable entries
 * points behind a landing pad; a compiler whose table points at the function has it still to skip.
 */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	if (*(const unsigned int *)addr == INSN_BTI_C)
		addr += AARCH64_INSN_SIZE;
#endif
	return addr;
}

#ifdef CONFIG_SYSCALL_TRACEPOINTS
/* The functions of system calls are not named as the system calls are. */
#define ARCH_HAS_SYSCALL_MATCH_SYM_NAME
_Bool arch_syscall_match_sym_name(const char *sym, const char *name);
#endif

#endif
#endif
