// SPDX-License-Identifier: MIT
/*
 * The C part of the port: patching of call sites and of the tracers' slots, and the replacement of
 * return addresses.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include <asm/cacheflush.h>

#include "long_call.h"
#include "prologue.h"

#ifdef CONFIG_DYNAMIC_FTRACE

#define INSN_NOP		0x00000000u
#define INSN_ADDIU_SP_SP_8	0x27bdfff8u	/* addiu sp,sp,-8 */
#define INSN_J			0x08000000u
#define INSN_JAL		0x0c000000u
#define JUMP_REGION		0x0fffffffu	/* reach of j and jal, from the next instruction */

#ifdef CONFIG_64BIT
/* Only the jal: the instruction in its delay slot belongs to the function. */
#define SITE_WORDS	1
#define SITE_CALL(jal)	{ (jal) }
#define SITE_NOP	{ INSN_NOP }
#else
/* The delay slot subtracts 8 from sp, which _mcount adds again: both words are switched. */
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

/* All words are compared before the first one is written. */
static int modify_code(unsigned long ip, const u32 *old, const u32 *new, int words)
{
	volatile u32 *code = (volatile u32 *)ip;
	int i;

	for (i = 0; i < words; i++)
		if (code[i] != old[i])
			return -EINVAL;
	for (i = 0; i < words; i++)
		if (old[i] != new[i])
			code[i] = new[i];
	flush_icache_range(ip, ip + 4 * words);
	return 0;
}

/*
 * M1: one word changes between the lui and a branch over the whole long call. _mcount and
 * ftrace_caller are one address, so the other words that load it are unchanged (M5).
 */
static int modify_long_call(unsigned long ip, unsigned long address, bool enable)
{
	u32 old[LONG_CALL_LOAD], new[LONG_CALL_LOAD];
	const volatile u32 *code = (const volatile u32 *)ip;
	int length = long_call_length(code);
	int words, i;

	if (!length)
		return -EINVAL;
	words = long_call_load(code, address, old);
	if (!words)
		return -ERANGE;
	for (i = 0; i < words; i++)
		new[i] = old[i];
	*(enable ? old : new) = BRANCH | (length - 1);
	return modify_code(ip, old, new, words);
}

/* The form is recognised by the word, not by the address (M1d). */
static bool has_long_call(const struct dyn_ftrace *rec)
{
	return is_long_call(*(volatile u32 *)rec->ip);
}

int ftrace_make_nop(struct module *module, struct dyn_ftrace *rec, unsigned long address)
{
	const u32 call[] = SITE_CALL(jump(INSN_JAL, address));
	const u32 nop[] = SITE_NOP;

	if (has_long_call(rec))
		return modify_long_call(rec->ip, address, false);
	if (!in_reach(rec->ip, address))
		return -ERANGE;
	return modify_code(rec->ip, call, nop, SITE_WORDS);
}

int ftrace_make_call(struct dyn_ftrace *rec, unsigned long address)
{
	const u32 call[] = SITE_CALL(jump(INSN_JAL, address));
	const u32 nop[] = SITE_NOP;

	if (has_long_call(rec))
		return modify_long_call(rec->ip, address, true);
	if (!in_reach(rec->ip, address))
		return -ERANGE;
	return modify_code(rec->ip, nop, call, SITE_WORDS);
}

static void write_code(void (*place)(void), u32 instruction)
{
	unsigned long address = (unsigned long)place;

	*(volatile u32 *)address = instruction;
	flush_icache_range(address, address + 4);
}

static bool is_nop(void (*place)(void))
{
	return *(volatile u32 *)(unsigned long)place == INSN_NOP;
}

/* Restore the jump at ftrace_caller if both slots are nops. */
static void close_gate(void)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (!is_nop(ftrace_graph_call))
		return;
#endif
	if (is_nop(ftrace_call))
		write_code(ftrace_caller, jump(INSN_J, (unsigned long)ftrace_stub));
}

/* Write a slot, then remove the jump at ftrace_caller: by then the tracer must be in place. */
static int fill_slot(void (*slot)(void), u32 opcode, unsigned long target)
{
	if (!in_reach((unsigned long)slot, target))
		return -ERANGE;
	write_code(slot, jump(opcode, target));
	write_code(ftrace_caller, INSN_NOP);
	return 0;
}

int ftrace_update_ftrace_func(ftrace_func_t function)
{
	if (function != (ftrace_func_t)ftrace_stub)
		return fill_slot(ftrace_call, INSN_JAL, (unsigned long)function);
	/* The slot first: a CPU beyond the jump executes the call or the nop. */
	write_code(ftrace_call, INSN_NOP);
	close_gate();
	return 0;
}

int ftrace_dyn_arch_init(void)
{
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

int ftrace_enable_ftrace_graph_caller(void)
{
	return fill_slot(ftrace_graph_call, INSN_J, (unsigned long)ftrace_graph_caller);
}

int ftrace_disable_ftrace_graph_caller(void)
{
	write_code(ftrace_graph_call, INSN_NOP);
	close_gate();
	return 0;
}

#endif

#endif	/* CONFIG_DYNAMIC_FTRACE */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* Let the function return to return_to_handler, if @place holds its return address. */
static __always_inline void hijack(unsigned long *place, unsigned long parent, unsigned long ip,
				   unsigned long frame_pointer)
{
	if (unlikely(*place != parent))
		return;
	if (likely(!function_graph_enter(parent, ip, frame_pointer, place)))
		*place = (unsigned long)return_to_handler;
}

#if defined(CONFIG_FUNCTION_GRAPH_FP_TEST) || !defined(KBUILD_MCOUNT_RA_ADDRESS)

static __always_inline void hijack_with_prologue(unsigned long *saved_at, unsigned long ip,
						 unsigned long sp, unsigned long *saved_ra,
						 u32 prologue)
{
	unsigned long frame_pointer = sp + PROLOGUE_FRAME(prologue);
	unsigned long *place = saved_at;

	if (prologue & PROLOGUE_STORED)
		place = (unsigned long *)(frame_pointer - PROLOGUE_RA(prologue));
#ifdef KBUILD_MCOUNT_RA_ADDRESS
	/* The compiler passes the address; if the prologue differs, it was decoded wrongly. */
	if (unlikely(place != (saved_ra ? saved_ra : saved_at)))
		return;
#endif
	hijack(place, *saved_at, ip, frame_pointer);
}

/* One u32 for each instruction of the kernel. */
extern u32 __prologues[];
extern char _text[], _etext[];

unsigned long prologue_map[PROLOGUE_MAP_SIZE];

/* Decode all prologues now and not at the first call of each function. */
static void read_prologues(unsigned long start, unsigned long end, u32 *prologues,
			   const unsigned long *location, const unsigned long *stop)
{
	unsigned long megabyte;

	for (; location < stop; location++)
		prologues[(*location - start) / 4] = decode_prologue(*location);
	for (megabyte = start >> 20; megabyte <= (end - 1) >> 20; megabyte++)
		*prologue_map_at(megabyte << 20) = (unsigned long)prologues - start;
}

void ftrace_graph_arch_init(void)
{
	read_prologues((unsigned long)_text, (unsigned long)_etext, __prologues,
		       __start_mcount_loc, __stop_mcount_loc);
}

/* The megabyte is the module's own; entries of unloaded modules are harmless. */
int ftrace_graph_module_init(struct module *module)
{
	u32 *prologues = module_memory(module, module->text_end - module->text_start);

	if (!prologues)
		return -ENOMEM;
	read_prologues(module->text_start, module->text_end, prologues, module->mcount_start,
		       module->mcount_stop);
	return 0;
}

#endif

/**
 * prepare_ftrace_return - let a function return to return_to_handler
 * @saved_at:	address of $at in the stub's frame: the return address, if the function stores no ra
 * @ip:		the call site
 * @sp:		the function's stack pointer
 * @saved_ra:	address of the stored ra, or NULL (-mmcount-ra-address only)
 *
 * A function is not hijacked if its return address is not found for certain. The frame pointer is
 * sp at the function's entry, which is also its value after the return.
 */
void prepare_ftrace_return(unsigned long *saved_at, unsigned long ip, unsigned long sp,
			   unsigned long *saved_ra)
{
#if defined(CONFIG_FUNCTION_GRAPH_FP_TEST) || !defined(KBUILD_MCOUNT_RA_ADDRESS)
	u32 prologue = known_prologue(ip);

	if (likely(prologue != PROLOGUE_UNKNOWN))
		hijack_with_prologue(saved_at, ip, sp, saved_ra, prologue);
#else
	hijack(saved_ra ? saved_ra : saved_at, *saved_at, ip, 0);
#endif
}

#endif
