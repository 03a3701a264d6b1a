/* SPDX-License-Identifier: MIT */
#ifndef _ASM_FTRACE_H
#define _ASM_FTRACE_H

/*
 * The AArch64 port's part of ftrace's interface. Two forms of call site:
 *
 *	mcount (-pg), one instruction, after the prologue:
 *		rec->ip:	bl	_mcount
 *
 *	patchable-entry (-fpatchable-function-entry=2), two, before the prologue:
 *		rec->ip:	mov	x9, x30
 *				bl	ftrace_caller
 *
 * A module is beyond the reach of bl. Its sites call trampolines in the module
 * (module/ftrace_trampoline.S).
 *
 * With pac-ret the prologue signs the return address: with the form mcount it is signed in the
 * frame record, at a patchable entry it is unsigned in x9, and the prologue signs the value that
 * the stub leaves in x30.
 */
#define AARCH64_INSN_SIZE	4

/* From rec->ip to the return address of the call: ip = x30 - MCOUNT_INSN_SIZE (C2). */
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
#define MCOUNT_INSN_SIZE	(2 * AARCH64_INSN_SIZE)
#else
#define MCOUNT_INSN_SIZE	AARCH64_INSN_SIZE
#endif

/*
 * C12. With the form mcount retp is the address of the return address. At a patchable entry that is
 * not stored yet, and retp is the stack pointer at the entry of the traced function, whose frame
 * will lie below it.
 */
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
#endif

/* The landing pad for indirect calls; a nop on CPUs without BTI. */
#define INSN_BTI_C		0xd503245f

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

/*
 * From an entry of the table of call sites to rec->ip (C8, B34). gcc's table of patchable entries
 * points after a landing pad; if a compiler's table points to the function, it is skipped here.
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
/* The functions of system calls have other names than the system calls. */
#define ARCH_HAS_SYSCALL_MATCH_SYM_NAME
_Bool arch_syscall_match_sym_name(const char *sym, const char *name);
#endif

#endif
#endif
