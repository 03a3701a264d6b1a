// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of the tracers' slots while the kernel runs. Every change is one
 * aligned store of one instruction, between nop and jal. With compressed instructions one may cross
 * a multiple of four bytes. Then the change is three stores of two bytes: to the first half a jump
 * over the second half, then the second half, then the first half. Between them every other CPU
 * takes an interrupt, which discards the instructions it has fetched. The words of a site are
 * checked before the first is written: a refused site is unchanged.
 */
#include <asm/cacheflush.h>
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/types.h>

#ifdef CONFIG_DYNAMIC_FTRACE

#define INSN_NOP		0x00000013u
#ifdef __riscv_compressed
#define INSN_ENTRY		0x00010001u	/* two nops of two bytes */
#else
#define INSN_ENTRY		INSN_NOP	/* half of a patchable entry as built */
#endif
#define INSN_C_J_OVER		0xa011u		/* over the two bytes behind it */
#define INSN_MV_T0_RA		0x00008293u
#define INSN_JAL_RA		0x000000efu
#define INSN_J			0x0000006fu
#define INSN_JAL_MASK		0x00000fffu
#define JAL_RANGE		0x00100000l	/* 1 MiB back, and forward one word less */

/* The j or jal (opcode) from pc to target; -EINVAL if unaligned, -ERANGE if out of reach. */
static int encode_jal(u32 opcode, unsigned long pc, unsigned long target, u32 *insn)
{
	long offset = (long)(target - pc);
	u32 bits = (u32)offset;

	if (target & (RISCV_INSN_ALIGN - 1))
		return -EINVAL;
	if (offset < -JAL_RANGE || offset >= JAL_RANGE)
		return -ERANGE;
	*insn = opcode | (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 |
		(bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12;
	return 0;
}

#ifdef __riscv_compressed
static void write_half(u16 *half, u16 value)
{
	WRITE_ONCE(*half, value);
	flush_icache_range((unsigned long)half, (unsigned long)(half + 1));
}

static void write_insn_by_halves(u16 *half, u32 word)
{
	write_half(&half[0], INSN_C_J_OVER);
	kick_all_cpus_sync();
	write_half(&half[1], (u16)(word >> 16));
	kick_all_cpus_sync();
	write_half(&half[0], (u16)word);
}
#endif

/* C9: flush the word that was written, after the store and before it is executed. */
static void write_insn(u32 *insn, u32 word)
{
	/* gcc assumes 2-byte alignment of a function, and would store two halfwords. */
	__asm__("" : "+r"(insn));
#ifdef __riscv_compressed
	if ((unsigned long)insn & RISCV_INSN_ALIGN) {
		write_insn_by_halves((u16 *)insn, word);
		return;
	}
#endif
	WRITE_ONCE(*insn, word);
	flush_icache_range((unsigned long)insn, (unsigned long)(insn + 1));
}

static u32 read_insn(const u32 *insn)
{
#ifdef __riscv_compressed
	const u16 *half = (const u16 *)insn;

	return READ_ONCE(half[0]) | (u32)READ_ONCE(half[1]) << 16;
#else
	return READ_ONCE(*insn);
#endif
}

static int modify_insn(u32 *insn, u32 old, u32 new)
{
	if (read_insn(insn) != old)
		return -EINVAL;
	write_insn(insn, new);
	return 0;
}

/* The word of a site that changes; NULL if ftrace_init_nop() has not prepared this as a site. */
static u32 *call_insn(const struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_ALIGN - 1))
		return NULL;
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	if (read_insn(insn) != INSN_MV_T0_RA)
		return NULL;
	insn++;
#endif
	return insn;
}

/* C9p: the jal at pc to addr, or to the module's trampoline for addr, if addr is out of reach. */
static int encode_call(const struct module *mod, unsigned long pc, unsigned long addr, u32 *insn)
{
	int error = encode_jal(INSN_JAL_RA, pc, addr, insn);

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
	return encode_jal(INSN_JAL_RA, pc, addr, insn);
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
/* The compiler emits eight bytes of nops; the first half becomes `mv t0, ra`, which stays. */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	u32 *insn = (u32 *)rec->ip;

	if (rec->ip & (RISCV_INSN_ALIGN - 1) || read_insn(&insn[0]) != INSN_ENTRY)
		return -EINVAL;
	if (modify_insn(&insn[1], INSN_ENTRY, INSN_NOP))
		return -EINVAL;
	write_insn(&insn[0], INSN_MV_T0_RA);
	return 0;
}
#endif

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

/* C10: the tracer that ftrace_caller calls; a nop for ftrace_stub. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	u32 *insn = (u32 *)ftrace_call;
	u32 old = read_insn(insn);
	u32 new = INSN_NOP;
	int error;

	if (old != INSN_NOP && (old & INSN_JAL_MASK) != INSN_JAL_RA)
		return -EINVAL;
	if (func != (ftrace_func_t)ftrace_stub) {
		error = encode_jal(INSN_JAL_RA, (unsigned long)insn, (unsigned long)func, &new);
		if (error)
			return error;
	}
	write_insn(insn, new);
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* C11: nop for off, `j ftrace_graph_caller` for on. A slot that is on cannot be switched on. */
static int modify_graph_call(bool enable)
{
	u32 *insn = (u32 *)ftrace_graph_call;
	u32 jump;
	int error;

	error = encode_jal(INSN_J, (unsigned long)insn, (unsigned long)ftrace_graph_caller, &jump);
	if (error)
		return error;
	return enable ? modify_insn(insn, INSN_NOP, jump) : modify_insn(insn, jump, INSN_NOP);
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
