// SPDX-License-Identifier: MIT
/*
 * Patching of call sites and of the tracers' slots while the kernel runs. A site is one instruction
 * of five bytes at any address: if it crosses a cache line, no store changes it as a whole, and a
 * CPU may have fetched a part of it. So its first byte becomes a breakpoint, then the other four
 * are written, then the first one. Between these steps every other CPU takes an interrupt, which
 * discards the instructions it has fetched. A CPU that executes the breakpoint continues behind the
 * site, as after the nop.
 */
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <asm/traps.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/types.h>

#ifdef CONFIG_DYNAMIC_FTRACE

#define CALL		0xe8
#define JUMP		0xe9
#define BREAKPOINT	0xcc

struct insn {
	u8 byte[MCOUNT_INSN_SIZE];
};

static const struct insn nop = { { 0x0f, 0x1f, 0x44, 0x00, 0x00 } };

/* The site that is being patched, or 0. */
static unsigned long patched;

/* The tracer that ftrace_call_meanwhile calls: the new one of ftrace_call. */
ftrace_func_t ftrace_next_tracer = (ftrace_func_t)ftrace_stub;

/* The call or jmp (opcode) from pc to target; -ERANGE for one out of reach. */
static int encode(u8 opcode, unsigned long pc, unsigned long target, struct insn *insn)
{
	long distance = (long)(target - pc) - MCOUNT_INSN_SIZE;
	int i;

	if (distance != (s32)distance)
		return -ERANGE;
	insn->byte[0] = opcode;
	for (i = 1; i < MCOUNT_INSN_SIZE; i++, distance >>= 8)
		insn->byte[i] = (u8)distance;
	return 0;
}

static bool is(unsigned long pc, const struct insn *insn)
{
	const volatile u8 *text = (const u8 *)pc;
	int i;

	for (i = 0; i < MCOUNT_INSN_SIZE; i++)
		if (text[i] != insn->byte[i])
			return false;
	return true;
}

/* C9: in this order. */
static void write_insn(unsigned long pc, const struct insn *insn)
{
	volatile u8 *text = (u8 *)pc;
	int i;

	WRITE_ONCE(patched, pc);
	text[0] = BREAKPOINT;
	kick_all_cpus_sync();
	for (i = 1; i < MCOUNT_INSN_SIZE; i++)
		text[i] = insn->byte[i];
	kick_all_cpus_sync();
	text[0] = insn->byte[0];
	/* After this no CPU is in ftrace_int3_handler() for this site. */
	kick_all_cpus_sync();
	WRITE_ONCE(patched, 0);
}

int ftrace_int3_handler(struct pt_regs *regs)
{
	unsigned long pc = regs->pc - 1;

	if (pc != READ_ONCE(patched))
		return 0;
	if (pc == (unsigned long)ftrace_call)
		regs->pc = (unsigned long)ftrace_call_meanwhile;
	else
		regs->pc = pc + MCOUNT_INSN_SIZE;
	return 1;
}

static int modify(unsigned long pc, const struct insn *old, const struct insn *new)
{
	if (!is(pc, old))
		return -EINVAL;
	write_insn(pc, new);
	return 0;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

/* Switch off a site that calls addr. */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	struct insn old;
	int error = encode(CALL, rec->ip, addr, &old);

	return error ? error : modify(rec->ip, &old, &nop);
}

/* Let a site that is off call addr. */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	struct insn new;
	int error = encode(CALL, rec->ip, addr, &new);

	return error ? error : modify(rec->ip, &nop, &new);
}

/* C10: the tracer that ftrace_caller calls; a nop for ftrace_stub. */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	unsigned long pc = (unsigned long)ftrace_call;
	struct insn new = nop;
	int error;

	if (!is(pc, &nop) && *(const volatile u8 *)pc != CALL)
		return -EINVAL;
	if (func != (ftrace_func_t)ftrace_stub) {
		error = encode(CALL, pc, (unsigned long)func, &new);
		if (error)
			return error;
	}
	WRITE_ONCE(ftrace_next_tracer, func);
	write_insn(pc, &new);
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* C11: nop for off, `jmp ftrace_graph_caller` for on. A slot that is on cannot be switched on. */
static int modify_graph_call(bool enable)
{
	unsigned long pc = (unsigned long)ftrace_graph_call;
	struct insn jump;
	int error = encode(JUMP, pc, (unsigned long)ftrace_graph_caller, &jump);

	if (error)
		return error;
	return enable ? modify(pc, &nop, &jump) : modify(pc, &jump, &nop);
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
