// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of the tracer's slot while the kernel runs. Every change is one
 * aligned store of one instruction, between nop and jal. The words of a site are checked before one
 * is written: a refused site is unchanged.
 */
#include <asm/cacheflush.h>
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/types.h>

#define INSN_NOP		0x00000013u
#define INSN_MV_T0_RA		0x00008293u
#define INSN_JAL_RA		0x000000efu
#define INSN_JAL_MASK		0x00000fffu
#define JAL_RANGE		0x00100000l	/* 1 MiB back, and forward one word less */

/* mcount.S knows these as FREGS_*. */
_Static_assert(offsetof(struct ftrace_regs, record) == FREGS_RECORD, "asm/ftrace.h");
_Static_assert(offsetof(struct ftrace_regs, caller) == FREGS_CALLER, "asm/ftrace.h");
_Static_assert(sizeof(struct ftrace_regs) == FREGS_SIZE, "asm/ftrace.h");

/* The jal from pc to target; -EINVAL for an unaligned target, -ERANGE for one out of reach. */
static int encode_jal(unsigned long pc, unsigned long target, u32 *insn)
{
	long offset = (long)(target - pc);
	u32 bits = (u32)offset;

	if (target & (RISCV_INSN_SIZE - 1))
		return -EINVAL;
	if (offset < -JAL_RANGE || offset >= JAL_RANGE)
		return -ERANGE;
	*insn = INSN_JAL_RA | (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 |
		(bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12;
	return 0;
}

/* C9: flush the word that was written, after the store and before it is executed. */
static void write_insn(u32 *insn, u32 word)
{
	/* gcc assumes 2-byte alignment of a function, and would store two halfwords. */
	__asm__("" : "+r"(insn));
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

/* The word of a site that changes; NULL if ftrace_init_nop() has not prepared this as a site. */
static u32 *call_insn(const struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_SIZE - 1) || READ_ONCE(*insn) != INSN_MV_T0_RA)
		return NULL;
	return insn + 1;
}

/* C9p: the jal at pc to addr, or to the module's trampoline for a stub that is out of reach. */
static int encode_call(const struct module *mod, unsigned long pc, unsigned long addr, u32 *insn)
{
	int error = encode_jal(pc, addr, insn);

	if (error != -ERANGE)
		return error;
	if (!mod)
		mod = __module_text_address(pc);
	if (mod && addr == (unsigned long)ftrace_caller)
		return encode_jal(pc, mod->arch.ftrace_trampoline, insn);
	if (mod && addr == FTRACE_REGS_ADDR)
		return encode_jal(pc, mod->arch.ftrace_regs_trampoline, insn);
	return -ERANGE;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

/* The compiler emits two nops; the first becomes `mv t0, ra`, which stays. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_SIZE - 1) || READ_ONCE(insn[1]) != INSN_NOP)
		return -EINVAL;
	return modify_insn(insn, INSN_NOP, INSN_MV_T0_RA);
}

/* Switch off a site that calls addr. */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	u32 *insn = call_insn(rec);
	u32 old;
	int error;

	if (!insn)
		return -EINVAL;
	error = encode_call(mod, (unsigned long)insn, addr, &old);
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
	error = encode_call(NULL, (unsigned long)insn, addr, &new);
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
	error = encode_call(NULL, (unsigned long)insn, old_addr, &old);
	if (!error)
		error = encode_call(NULL, (unsigned long)insn, addr, &new);
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

	if (old != INSN_NOP && (old & INSN_JAL_MASK) != INSN_JAL_RA)
		return -EINVAL;
	if (func != (ftrace_func_t)ftrace_stub) {
		error = encode_jal((unsigned long)insn, (unsigned long)func, &new);
		if (error)
			return error;
	}
	write_insn(insn, new);
	return 0;
}
