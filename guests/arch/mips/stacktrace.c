// SPDX-License-Identifier: MIT
/*
 * Walking a stack, where MIPS has a say: where it ends at user mode, and code without tables.
 *
 * That is assembly without .cfi: a port's stubs, if they are Linux's, and some of the kernel's. It is
 * read, from where it is at backwards to its beginning, which is behind a jump: what has been taken
 * from sp, and where ra and at have been stored. Right where such a stub calls the tracer.
 */
#include <linux/ftrace.h>
#include <linux/unwind.h>

#include <asm/ptrace.h>

#define MAX_STUB_WORDS	64

#ifdef CONFIG_64BIT
#define FRAME_REGS	0	/* stackframe.h */
#define ADD_SP		0x67bd	/* daddiu sp,sp,n */
#define STORE_RA	0xffbf	/* sd ra,n(sp) */
#define STORE_AT	0xffa1	/* sd at,n(sp) */
#else
#define FRAME_REGS	24
#define ADD_SP		0x27bd	/* addiu sp,sp,n */
#define STORE_RA	0xafbf	/* sw ra,n(sp) */
#define STORE_AT	0xafa1	/* sw at,n(sp) */
#endif

/* In the delay slot of a call site: what _mcount has to give back (o32). */
#define SITE_ADD_SP	0x27bdfff8u	/* addiu sp,sp,-8 */

#define NOWHERE		(~0ul)

extern const u32 interrupt_return[], return_to_user[];

/**
 * struct stub - what a piece of assembly has done so far
 * @begin:	its first instruction
 * @sp:		the stack pointer when that was run
 * @ra:		where ra has been stored, or NOWHERE
 * @at:		likewise
 */
struct stub {
	const u32 *begin;
	unsigned long sp;
	unsigned long ra;
	unsigned long at;
};

static bool jumps_away(u32 word)
{
	u32 function = word & 0x3f;

	if (word >> 26)
		return word >> 26 == 2 || word >> 16 == 0x1000;		/* j, b */
	return function == 8 || (function == 9 && !(word & 0xf800));	/* jr; jalr zero */
}

/* Whether a stub begins here: what lies in front of it goes somewhere else. */
static bool is_begin(const u32 *word)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (word == (const u32 *)(unsigned long)return_to_handler)
		return true;
#endif
	return jumps_away(word[-2]);
}

/* False: it is no stub, or too long a one. It begins at the entry, if one is known. */
static bool read_stub(const struct unwind_frame *frame, const u32 *entry, struct stub *stub)
{
	const u32 *word = (const u32 *)frame->pc;
	unsigned long sp = frame->reg[UNWIND_SP];
	bool popped = false;
	int i;

	stub->ra = NOWHERE;
	stub->at = NOWHERE;
	for (i = 0; i < MAX_STUB_WORDS; i++) {
		u32 insn;

		if (word == entry || is_begin(word)) {
			stub->begin = word;
			stub->sp = sp;
			return true;
		}
		insn = *--word;
		if (insn >> 16 == ADD_SP) {
			long size = (s16)insn;

			sp -= size;
			popped |= size > 0;
		} else if (insn >> 16 == STORE_RA && !popped) {
			stub->ra = sp + (s16)insn;
		} else if (insn >> 16 == STORE_AT && !popped) {
			stub->at = sp + (s16)insn;
		}
	}
	return false;
}

/* A register that a stub may have stored; else it is where it was, if nothing was called since. */
static bool find_register(const struct unwind_frame *frame, unsigned long place,
			  unsigned long *value)
{
	return place == NOWHERE ? frame->exact : unwind_load(frame, place, value);
}

/*
 * Where the call in front of a return address went, or NULL. Call sites may skip what a stub begins
 * with: Linux's call its third instruction, behind what once was a branch to its end.
 */
static const u32 *called(unsigned long ra)
{
	u32 insn;

	if (!unwind_is_code(ra - 8))
		return NULL;
	insn = ((const u32 *)ra)[-2];
	if (insn >> 26 != 3)						/* jal */
		return NULL;
	return (const u32 *)(((ra - 4) & ~0xffffffful) | (insn & 0x3ffffff) << 2);
}

static bool unwind_by_code(struct unwind_frame *frame)
{
	unsigned long ra = frame->reg[UNWIND_RA], at = frame->reg[UNWIND_AT];
	struct stub stub;

	if (!read_stub(frame, NULL, &stub))
		return false;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* What it returns to is on no stack. */
	if (stub.begin == (const u32 *)(unsigned long)return_to_handler)
		return false;
#endif
	if (!find_register(frame, stub.ra, &ra) || !ra)
		return false;
	read_stub(frame, called(ra), &stub);
	find_register(frame, stub.at, &at);
	frame->pc = ra;
	frame->exact = false;
	frame->reg[UNWIND_SP] = stub.sp;
#ifndef CONFIG_64BIT
	if (unwind_is_code(ra - 4) && ((const u32 *)ra)[-1] == SITE_ADD_SP)
		frame->reg[UNWIND_SP] += 8;
#endif
	/* Of a traced function; any other that calls assembly has stored its own. */
	frame->reg[UNWIND_RA] = at;
	return true;
}

bool arch_unwind_step(struct unwind_frame *frame)
{
	const struct pt_regs *regs = (const void *)(frame->reg[UNWIND_SP] + FRAME_REGS);

	if (frame->pc == (unsigned long)return_to_user)
		return false;
	if (frame->pc == (unsigned long)interrupt_return &&
	    ((unsigned long)(regs + 1) > frame->high || user_mode(regs)))
		return false;
	return unwind_by_table(frame) || unwind_by_code(frame);
}
