// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of the tracer's slot while the kernel runs. Every change is one
 * aligned store of one instruction, between nop and bl, which the architecture allows while another
 * CPU executes it (Arm ARM, "Concurrent modification and execution of instructions"). The words of
 * a site are checked before one is written: a refused site is unchanged.
 */
#include <asm/cacheflush.h>
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/types.h>

#define INSN_NOP		0xd503201fu
#define INSN_MOV_X9_X30		0xaa1e03e9u
#define INSN_BL			0x94000000u
#define INSN_BL_MASK		0xfc000000u
#define BRANCH_IMM26		0x03ffffffu
#define BRANCH_RANGE		0x08000000l	/* 128 MiB back, and forward one word less */

/* The bl from pc to target; -EINVAL for an unaligned target, -ERANGE for one out of reach. */
static int encode_bl(unsigned long pc, unsigned long target, u32 *insn)
{
	long offset = (long)(target - pc);

	if (target & (AARCH64_INSN_SIZE - 1))
		return -EINVAL;
	if (offset < -BRANCH_RANGE || offset >= BRANCH_RANGE)
		return -ERANGE;
	*insn = INSN_BL | ((u32)(offset >> 2) & BRANCH_IMM26);
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
 * The word of a site that changes between nop and bl. NULL if this is no site: not aligned, or not
 * prepared by ftrace_init_nop(). Without the return address in x9 a bl there would lose it.
 */
static u32 *call_insn(const struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (AARCH64_INSN_SIZE - 1) || READ_ONCE(insn[-1]) != INSN_MOV_X9_X30)
		return NULL;
	return insn;
}

/* C9p: the bl at pc to addr, or to the module's trampoline for a stub that is out of reach. */
static int encode_call(const struct module *mod, unsigned long pc, unsigned long addr, u32 *insn)
{
	int error = encode_bl(pc, addr, insn);

	if (error != -ERANGE)
		return error;
	if (!mod)
		mod = __module_text_address(pc);
	if (mod && addr == (unsigned long)ftrace_caller)
		return encode_bl(pc, mod->arch.ftrace_trampoline, insn);
	if (mod && addr == FTRACE_REGS_ADDR)
		return encode_bl(pc, mod->arch.ftrace_regs_trampoline, insn);
	return -ERANGE;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

/* The compiler emits two nops; the first becomes `mov x9, x30`, which stays. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (AARCH64_INSN_SIZE - 1) || READ_ONCE(*insn) != INSN_NOP)
		return -EINVAL;
	return modify_insn(insn - 1, INSN_NOP, INSN_MOV_X9_X30);
}

/* Switch off a site that calls addr. */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	u32 *insn = call_insn(rec);
	u32 old;
	int error;

	if (!insn)
		return -EINVAL;
	error = encode_call(mod, rec->ip, addr, &old);
	if (error)
		return error;
	return modify_insn(insn, old, INSN_NOP);
}

/* Let a site that is off call addr. */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	u32 *insn = call_insn(rec);
	u32 new;
	int error;

	if (!insn)
		return -EINVAL;
	error = encode_call(NULL, rec->ip, addr, &new);
	if (error)
		return error;
	return modify_insn(insn, INSN_NOP, new);
}

/*
 * C21: let a site that calls old_addr call addr. One store: a CPU that executes the site meanwhile
 * calls one of them, and never neither.
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	u32 *insn = call_insn(rec);
	u32 old, new;
	int error;

	if (!insn)
		return -EINVAL;
	error = encode_call(NULL, rec->ip, old_addr, &old);
	if (!error)
		error = encode_call(NULL, rec->ip, addr, &new);
	if (error)
		return error;
	return modify_insn(insn, old, new);
}

/* C10: the tracer that ftrace_caller calls; a nop for ftrace_stub. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	u32 *insn = (u32 *)ftrace_call;
	u32 old = READ_ONCE(*insn);
	u32 new = INSN_NOP;
	int error;

	if (old != INSN_NOP && (old & INSN_BL_MASK) != INSN_BL)
		return -EINVAL;
	if (func != (ftrace_func_t)ftrace_stub) {
		error = encode_bl((unsigned long)insn, (unsigned long)func, &new);
		if (error)
			return error;
	}
	write_insn(insn, new);
	return 0;
}
