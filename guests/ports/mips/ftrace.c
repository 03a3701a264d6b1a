// SPDX-License-Identifier: MIT
/*
 * The port's half of dynamic ftrace: what stands at a call site and in the tracer's slot.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>

#include <asm/cacheflush.h>

#define INSN_NOP		0x00000000u
#define INSN_ADDIU_SP_SP_8	0x27bdfff8u	/* addiu sp,sp,-8 */
#define INSN_J			0x08000000u
#define INSN_JAL		0x0c000000u
#define JUMP_REGION		0x0fffffffu	/* what a j or jal can reach from behind itself */

#ifdef CONFIG_64BIT
/* Only the jal: whatever stands in the delay slot belongs to the function. */
#define SITE_WORDS	1
#define SITE_CALL(jal)	{ (jal) }
#define SITE_NOP	{ INSN_NOP }
#else
/* The delay slot takes 8 from sp for _mcount to give back: without the call it has to go too. */
#define SITE_WORDS	2
#define SITE_CALL(jal)	{ (jal), INSN_ADDIU_SP_SP_8 }
#define SITE_NOP	{ INSN_NOP, INSN_NOP }
#endif

static bool in_reach(unsigned long ip, unsigned long target)
{
	return !(((ip + 4) ^ target) & ~(unsigned long)JUMP_REGION) && !(target & 3);
}

static u32 jump(u32 opcode, unsigned long target)
{
	return opcode | (target & JUMP_REGION) >> 2;
}

/* All or nothing: every word is compared before the first one is written. */
static int modify_code(unsigned long ip, const u32 *old, const u32 *new, int words)
{
	volatile u32 *code = (volatile u32 *)ip;
	int i;

	for (i = 0; i < words; i++)
		if (code[i] != old[i])
			return -EINVAL;
	for (i = 0; i < words; i++)
		code[i] = new[i];
	flush_icache_range(ip, ip + 4 * words);
	return 0;
}

int ftrace_make_nop(struct module *module, struct dyn_ftrace *record, unsigned long address)
{
	const u32 call[] = SITE_CALL(jump(INSN_JAL, address));
	const u32 nop[] = SITE_NOP;

	if (!in_reach(record->ip, address))
		return -ERANGE;
	return modify_code(record->ip, call, nop, SITE_WORDS);
}

int ftrace_make_call(struct dyn_ftrace *record, unsigned long address)
{
	const u32 call[] = SITE_CALL(jump(INSN_JAL, address));
	const u32 nop[] = SITE_NOP;

	if (!in_reach(record->ip, address))
		return -ERANGE;
	return modify_code(record->ip, nop, call, SITE_WORDS);
}

static void write_code(void (*place)(void), u32 instruction)
{
	unsigned long address = (unsigned long)place;

	*(volatile u32 *)address = instruction;
	flush_icache_range(address, address + 4);
}

int ftrace_update_ftrace_func(ftrace_func_t function)
{
	unsigned long target = (unsigned long)function;

	if (target == (unsigned long)ftrace_stub) {
		write_code(ftrace_caller, jump(INSN_J, target));
		write_code(ftrace_call, INSN_NOP);
		return 0;
	}
	if (!in_reach((unsigned long)ftrace_call, target))
		return -ERANGE;
	/* The gate opens last: behind it the tracer has to be in place. */
	write_code(ftrace_call, jump(INSN_JAL, target));
	write_code(ftrace_caller, INSN_NOP);
	return 0;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}
