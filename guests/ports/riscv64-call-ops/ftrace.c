// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of their literals while the kernel runs. Every change of code is one
 * aligned store of one instruction, between nop and jal. A literal is data, in one aligned store,
 * and is there before a jal that leads to the stub. The words of a site are checked before anything
 * is written: a refused site is unchanged.
 */
#include <asm/barrier.h>
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
#define JAL_RANGE		0x00100000l	/* 1 MiB back, and forward one word less */

/* mcount.S knows these as FREGS_*. */
#define CHECK_FREGS(member, offset) \
	_Static_assert(offsetof(struct ftrace_regs, member) == (offset), "asm/ftrace.h")
CHECK_FREGS(a[0], FREGS_A0);
CHECK_FREGS(t2, FREGS_T2);
CHECK_FREGS(sp, FREGS_SP);
CHECK_FREGS(epc, FREGS_EPC);
CHECK_FREGS(direct_tramp, FREGS_DIRECT_TRAMP);
CHECK_FREGS(record[0], FREGS_RECORD);
CHECK_FREGS(s0, FREGS_S0);
CHECK_FREGS(ra, FREGS_RA);
_Static_assert(sizeof(struct ftrace_regs) == FREGS_SIZE, "asm/ftrace.h");
_Static_assert(offsetof(struct ftrace_ops, func) == FTRACE_OPS_FUNC, "asm/ftrace.h");
_Static_assert(offsetof(struct ftrace_ops, direct_call) == FTRACE_OPS_DIRECT_CALL, "asm/ftrace.h");

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
	WRITE_ONCE(*insn, word);
	flush_icache_range((unsigned long)insn, (unsigned long)(insn + 1));
}

/* The word of a site that changes; NULL if ftrace_init_nop() has not prepared this as a site. */
static u32 *call_insn(const struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_SIZE - 1) || READ_ONCE(*insn) != INSN_MV_T0_RA)
		return NULL;
	return insn + 1;
}

/* C9p: the jal at pc to addr, or to the module's trampoline, if ftrace_caller is out of reach. */
static int encode_call(const struct module *mod, unsigned long pc, unsigned long addr, u32 *insn)
{
	int error = encode_jal(pc, addr, insn);

	if (error != -ERANGE || addr != (unsigned long)ftrace_caller)
		return error;
	if (!mod)
		mod = __module_text_address(pc);
	if (!mod)
		return -ERANGE;
	return encode_jal(pc, mod->arch.ftrace_trampoline, insn);
}

/* C22b: the ops of a site, for every CPU before what is written next. */
static void set_ops(const struct dyn_ftrace *rec, const struct ftrace_ops *ops)
{
	WRITE_ONCE(*(const struct ftrace_ops **)(rec->ip - LITERAL_SIZE), ops);
	smp_wmb();
}

/* C22c: the only tracer of a site, or the list function's ops. */
static const struct ftrace_ops *ops_of(struct dyn_ftrace *rec)
{
	const struct ftrace_ops *ops = ftrace_find_unique_ops(rec);

	return ops ? ops : &ftrace_list_ops;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

/* From one word of a site to another, with the ops for the new one in front of the function. */
static int change_site(struct dyn_ftrace *rec, u32 old, u32 new, const struct ftrace_ops *ops)
{
	u32 *insn = call_insn(rec);

	if (!insn || READ_ONCE(*insn) != old)
		return -EINVAL;
	set_ops(rec, ops);
	if (old != new)
		write_insn(insn, new);
	return 0;
}

/*
 * The compiler emits two nops in the function, of which the first becomes `mv t0, ra`, which stays,
 * and two in front of it, which become the literal.
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_SIZE - 1) || READ_ONCE(*insn) != INSN_NOP ||
	    READ_ONCE(insn[1]) != INSN_NOP)
		return -EINVAL;
	set_ops(rec, &ftrace_nop_ops);
	write_insn(insn, INSN_MV_T0_RA);
	return 0;
}

/* Switch off a site that calls addr. */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	u32 old;
	int error = encode_call(mod, rec->ip + RISCV_INSN_SIZE, addr, &old);

	return error ? error : change_site(rec, old, INSN_NOP, &ftrace_nop_ops);
}

/* Let a site that is off call addr. */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	u32 new;
	int error = encode_call(NULL, rec->ip + RISCV_INSN_SIZE, addr, &new);

	return error ? error : change_site(rec, INSN_NOP, new, ops_of(rec));
}

/* Let a site that calls old_addr call addr, with the ops that it has by now (C22c). */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	unsigned long pc = rec->ip + RISCV_INSN_SIZE;
	u32 old, new;
	int error = encode_call(NULL, pc, old_addr, &old);

	if (!error)
		error = encode_call(NULL, pc, addr, &new);
	return error ? error : change_site(rec, old, new, ops_of(rec));
}

/* There is no slot: the stub calls the function of the site's own ops. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	return 0;
}
