// SPDX-License-Identifier: MIT
/*
 * Stack unwinding, the MIPS part: its end at user mode, and code without tables.
 *
 * Such code is assembly without .cfi: Linux's stubs of a port, and some of the kernel's. Its
 * instructions are read backwards from the pc to its beginning, which is after a jump, for the
 * adjustment of sp and the stack slots of ra and at. That is correct when such a stub calls the
 * tracer.
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

/* o32: gcc puts it into the delay slot of a call site; _mcount of every port adds the 8 again. */
#define SITE_ADD_SP	0x27bdfff8u	/* addiu sp,sp,-8 */

#define NOWHERE		(~0ul)

extern const u32 interrupt_return[], return_to_user[];

/**
 * struct stub - the effect of a stub's instructions so far
 * @begin:	its first instruction
 * @sp:		the stack pointer at @begin
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

/* Whether a stub begins here: the instruction before it is a jump. */
static bool is_begin(const u32 *word)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (word == (const u32 *)(unsigned long)return_to_handler)
		return true;
#endif
	return jumps_away(word[-2]);
}

/* Returns false if it is not a stub, or too long. It begins at @entry, if that is known. */
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

/* A register possibly saved by a stub; otherwise unchanged, if the stub has made no call. */
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
	/* Linux's name, as every port has: its return address is not on the stack. */
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
	/* Of a traced function; other callers of assembly have saved their own. */
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
