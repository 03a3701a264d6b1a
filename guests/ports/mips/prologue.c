// SPDX-License-Identifier: MIT
/*
 * Find where a function has stored its return address, from its prologue (B20).
 *
 * With -pg gcc keeps the prologue in one piece, from the function's first instruction to the call
 * of _mcount, without a jump, and moves nothing across the call. So the code is decoded backwards
 * from the site, up to the store of ra and the allocation of the frame before it (gcc allocates up
 * to 32 KiB, stores the registers and allocates the rest). A function does not store ra if the scan
 * reaches its start: the unconditional jump or the trap that ends the code before it. After any
 * other instruction the result is unknown. The caller compares the word found with the expected
 * return address.
 */
#include "long_call.h"
#include "prologue.h"

#define REG_AT		1
#define REG_SP		29
#define REG_RA		31

#define MAX_SITE_WORDS	6	/* move at,ra; v0 = static chain; $12 = address, up to three */
#define MAX_FRAME	0x2000000	/* 22 bits, in units of 8 bytes */
#define MAX_WORDS	64	/* 9 + 12 stores, sp, fp, gp, constants, padding before */

#define RS(word)	((word) >> 21 & 31)
#define RT(word)	((word) >> 16 & 31)
#define RD(word)	((word) >> 11 & 31)
#define IMMEDIATE(word)	((long)(s16)(word))

/* `or`, `addu` or `daddu` rd,rs,zero, depending on the assembler. */
#define IS_MOVE(word, rd, rs)	\
	(((word) & ~0xcu) == ((u32)(rs) << 21 | (rd) << 11 | 0x21))

#define INSN_NOP		0x00000000u

#define OPCODE(word)		((word) >> 26)
#define OP_SPECIAL		0x00u
#define OP_ADDIU		0x09u
#define OP_ORI			0x0du
#define OP_LUI			0x0fu
#define OP_DADDIU		0x19u
#define OP_SW			0x2bu
#define OP_SWC1			0x39u
#define OP_SDC1			0x3du
#define OP_SD			0x3fu
#define FUNCT(word)		((word) & 0x3f)
#define FUNCT_JR		0x08u
#define FUNCT_JALR		0x09u	/* jr too, from release 6 on */
#define FUNCT_BREAK		0x0du
#define FUNCT_ADDU		0x21u
#define FUNCT_SUBU		0x23u
#define FUNCT_OR		0x25u
#define FUNCT_DADDU		0x2du
#define FUNCT_DSUBU		0x2fu
#define FUNCT_TEQ		0x34u

#ifdef CONFIG_64BIT
#define STORE_RA		0xffbf0000u	/* sd ra,0(sp) */
#define LOWER_SP		0x67bd8000u	/* daddiu sp,sp,-32768 */
#else
#define STORE_RA		0xafbf0000u	/* sw ra,0(sp) */
#define LOWER_SP		0x27bd8000u	/* addiu sp,sp,-32768 */
#endif

/* A store of any register to sp + offset. */
static bool stores_to_frame(u32 word)
{
	if (RS(word) != REG_SP)
		return false;
	switch (OPCODE(word)) {
	case OP_SW:
	case OP_SWC1:
	case OP_SDC1:
	case OP_SD:
		return true;
	default:
		return false;
	}
}

static bool stores_ra(u32 word)
{
	return (word & 0xffff0000) == STORE_RA;
}

static bool lowers_sp(u32 word)
{
	return (word & 0xffff8000) == LOWER_SP;
}

/* An unconditional jump, with a delay slot. */
static bool jumps(u32 word)
{
	if (OPCODE(word) == OP_SPECIAL)
		return FUNCT(word) == FUNCT_JR || FUNCT(word) == FUNCT_JALR;
	return OPCODE(word) >> 1 == 1 ||		/* j, jal */
	       word >> 16 == 0x1000;			/* b: beq zero,zero */
}

/* A trap: break, which is in front of a module's text, or teq of a register with itself. */
static bool traps(u32 word)
{
	return OPCODE(word) == OP_SPECIAL &&
	       (FUNCT(word) == FUNCT_BREAK ||
		(FUNCT(word) == FUNCT_TEQ && RS(word) == RT(word)));
}

/**
 * struct large_frame - the rest of a frame above 32 KiB, subtracted from sp by a register
 * @reg:	the register; 0 if there is none
 * @size:	the known part of its value
 * @below_ra:	it is subtracted after the store of ra, which lies higher by as much
 */
struct large_frame {
	u32 reg;
	long size;
	bool below_ra;
};

/* Whether it only writes a register other than sp and ra. */
static bool decode_value(u32 word, struct large_frame *rest)
{
	u32 target, source;
	bool known = true;
	long value = 0;

	switch (OPCODE(word)) {
	case OP_LUI:
		target = RT(word);
		source = 0;
		value = (long)(s32)(word << 16);
		break;
	case OP_ORI:
		target = RT(word);
		source = RS(word);
		value = word & 0xffff;
		break;
	case OP_ADDIU:
	case OP_DADDIU:
		target = RT(word);
		source = RS(word);
		value = IMMEDIATE(word);
		break;
	case OP_SPECIAL:
		if (FUNCT(word) != FUNCT_ADDU && FUNCT(word) != FUNCT_OR &&
		    FUNCT(word) != FUNCT_DADDU)
			return false;
		target = RD(word);
		source = 0;
		known = false;
		break;
	default:
		return false;
	}
	if (target == REG_SP || target == REG_RA)
		return false;
	if (target && target == rest->reg) {
		if (!known || (source && source != target))
			return false;
		rest->size += value;
		if (!source)
			rest->reg = 0;
	}
	return true;
}

/* sp -= register */
static bool lowers_sp_by_register(u32 word)
{
	return OPCODE(word) == OP_SPECIAL &&
	       (FUNCT(word) == FUNCT_SUBU || FUNCT(word) == FUNCT_DSUBU) &&
	       RD(word) == REG_SP && RS(word) == REG_SP;
}

/* The three values in one word, if they fit. */
static u32 encode(bool stored, long frame_size, long ra_offset)
{
	long ra = frame_size - ra_offset;

	if (frame_size < 0 || frame_size % 8 || frame_size >= MAX_FRAME)
		return PROLOGUE_UNKNOWN;
	if (!stored)
		return PROLOGUE_LEAF | (u32)(frame_size / 8) << 10;
	if (ra <= 0 || ra % (long)sizeof(long) || ra / 4 > 255)
		return PROLOGUE_UNKNOWN;
	return PROLOGUE_STORED | (u32)(ra / 4) << 2 | (u32)(frame_size / 8) << 10;
}

u32 decode_prologue(unsigned long ip)
{
	const u32 *word = (const u32 *)ip;
	struct large_frame rest = { 0 };
	long frame_size = 0, last = 0, ra_offset = 0;
	bool stored = false, allocated = false;
	int i;

	/* A long call begins with its first word. */
	if (!is_long_call(*word)) {
		for (i = 0; !IS_MOVE(word[-1], REG_AT, REG_RA); i++, word--)
			if (i == MAX_SITE_WORDS)
				return PROLOGUE_UNKNOWN;
		word--;
	}
	for (i = 0; i < MAX_WORDS; i++) {
		u32 insn = *--word;

		if (stores_to_frame(insn)) {
			last = 0;
			if (!stores_ra(insn))
				continue;
			if (stored)
				return PROLOGUE_UNKNOWN;
			stored = true;
			ra_offset = frame_size + IMMEDIATE(insn);
			continue;
		}
		if (lowers_sp(insn)) {
			last = -IMMEDIATE(insn);
			frame_size += last;
			allocated = stored;
			if (allocated && !rest.reg)
				break;
			continue;
		}
		/* The word after a jump is its delay slot, even if it looks like a prologue. */
		if (jumps(insn)) {
			if (stored || rest.reg)
				return PROLOGUE_UNKNOWN;
			frame_size -= last;
			break;
		}
		if (jumps(word[-1]) || traps(insn)) {
			if (stored || rest.reg)
				return PROLOGUE_UNKNOWN;
			break;
		}
		if (insn == INSN_NOP)
			continue;
		if (lowers_sp_by_register(insn)) {
			if (rest.reg || rest.size)
				return PROLOGUE_UNKNOWN;
			rest.reg = RT(insn);
			rest.below_ra = !stored;
			continue;
		}
		if (!decode_value(insn, &rest))
			return PROLOGUE_UNKNOWN;
		/* The constant may be loaded before everything else. */
		if (allocated && !rest.reg)
			break;
	}
	if (i == MAX_WORDS)
		return PROLOGUE_UNKNOWN;
	frame_size += rest.size;
	if (rest.below_ra)
		ra_offset += rest.size;
	return encode(stored, frame_size, ra_offset);
}
