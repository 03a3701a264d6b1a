// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of the tracers' slots while the kernel runs. Every changed instruction
 * has two halfwords and is written by one store: an interrupt handler on this CPU sees the old or
 * the new instruction. A site may begin in the middle of a word, where the store is not atomic for
 * other CPUs, and for pop.w the architecture guarantees nothing in any case (DDI 0406, A3.5.3 and
 * A3.5.4): Linux stops all other CPUs meanwhile.
 */
#include <asm/cacheflush.h>
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/types.h>

#ifdef CONFIG_DYNAMIC_FTRACE

#define INSN_SIZE		4
#define INSN_ALIGN		2

/* An instruction as in the manual, first halfword first. */
#define T32(first, second)	((u32)(second) << 16 | (first))
#define INSN_NOP		T32(0xf3af, 0x8000)	/* nop.w, in a slot */
#define INSN_POP_LR		T32(0xf85d, 0xeb04)	/* pop.w {lr}, at a site */
#define INSN_BL			T32(0xf000, 0xd000)
#define INSN_BL_MASK		T32(0xf800, 0xd000)
#define INSN_B			T32(0xf000, 0x9000)
#define BRANCH_RANGE		0x01000000l	/* 16 MiB back, and forward one halfword less, */
#define BRANCH_AHEAD		4		/* from here on */

/* The address of a function has bit 0 set for T32; its code is at the address without it. */
#define PLACE(target)		((target) & ~1ul)

/*
 * The b or bl (opcode) from pc to target; -ERANGE for one out of reach. Of the distance, bits 23
 * and 22 are stored as J1 and J2: inverted where the sign, S, is 0.
 */
static int encode_branch(u32 opcode, unsigned long pc, unsigned long target, u32 *insn)
{
	long offset = (long)(PLACE(target) - pc - BRANCH_AHEAD);
	u32 s = offset < 0;
	u32 j1 = !((u32)offset >> 23 & 1) ^ s;
	u32 j2 = !((u32)offset >> 22 & 1) ^ s;

	if (offset < -BRANCH_RANGE || offset >= BRANCH_RANGE)
		return -ERANGE;
	*insn = opcode | T32(s << 10 | ((u32)offset >> 12 & 0x3ff),
			     j1 << 13 | j2 << 11 | ((u32)offset >> 1 & 0x7ff));
	return 0;
}

/* C9: flush the word that was written, after the store and before it is executed. */
static void write_insn(u32 *insn, u32 word)
{
	WRITE_ONCE(*insn, word);
	flush_icache_range((unsigned long)insn, (unsigned long)(insn + 1));
}

static int modify_insn(u32 *insn, u32 old, u32 new)
{
	if (READ_ONCE(*insn) != old)
		return -EINVAL;
	write_insn(insn, new);
	return 0;
}

/*
 * C9p: the bl at pc to addr, or to the module's trampoline for addr, if addr is out of reach.
 */
static int encode_call(const struct module *mod, unsigned long pc, unsigned long addr, u32 *insn)
{
	int error;

	if (pc & (INSN_ALIGN - 1))
		return -EINVAL;
	error = encode_branch(INSN_BL, pc, addr, insn);
	if (error != -ERANGE)
		return error;
	if (!mod)
		mod = __module_text_address(pc);
	if (!mod)
		return -ERANGE;
	if (addr == (unsigned long)ftrace_caller)
		addr = mod->arch.ftrace_trampoline;
	else if (addr == MCOUNT_ADDR)
		addr = mod->arch.mcount_trampoline;
	return encode_branch(INSN_BL, pc, addr, insn);
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

/* Switch off a site that calls addr. */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	u32 old;
	int error;

	error = encode_call(mod, rec->ip, addr, &old);
	if (error)
		return error;
	return modify_insn((u32 *)rec->ip, old, INSN_POP_LR);
}

/* Let a site that is off call addr. */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	u32 new;
	int error;

	error = encode_call(NULL, rec->ip, addr, &new);
	if (error)
		return error;
	return modify_insn((u32 *)rec->ip, INSN_POP_LR, new);
}

/* C10: the tracer that ftrace_caller calls; a nop for ftrace_stub. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	u32 *insn = (u32 *)PLACE((unsigned long)ftrace_call);
	u32 old = READ_ONCE(*insn);
	u32 new = INSN_NOP;
	int error;

	if (old != INSN_NOP && (old & INSN_BL_MASK) != INSN_BL)
		return -EINVAL;
	if (func != (ftrace_func_t)ftrace_stub) {
		error = encode_branch(INSN_BL, (unsigned long)insn, (unsigned long)func, &new);
		if (error)
			return error;
	}
	write_insn(insn, new);
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* C11: nop for off, `b.w ftrace_graph_caller` for on. A slot that is on cannot be switched on. */
static int modify_graph_call(bool enable)
{
	u32 *insn = (u32 *)PLACE((unsigned long)ftrace_graph_call);
	u32 branch;
	int error;

	error = encode_branch(INSN_B, (unsigned long)insn, (unsigned long)ftrace_graph_caller,
			      &branch);
	if (error)
		return error;
	return enable ? modify_insn(insn, INSN_NOP, branch) : modify_insn(insn, branch, INSN_NOP);
}

int ftrace_enable_ftrace_graph_caller(void)
{
	return modify_graph_call(true);
}

int ftrace_disable_ftrace_graph_caller(void)
{
	return modify_graph_call(false);
}
#endif

#endif
