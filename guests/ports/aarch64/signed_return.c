// SPDX-License-Identifier: MIT
/*
 * Decoding of prologues: the distance from a function's frame record up to sp at its entry.
 * Encodings: Arm ARM, C6.2 (ADD, MOVK, MOVZ, PACIASP, STP, SUB).
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include "signed_return.h"

#if defined(__ARM_FEATURE_PAC_DEFAULT) && !defined(CC_USING_PATCHABLE_FUNCTION_ENTRY)

#define INSN_PACIASP		0xd503233fu
/* add x29, sp, #imm12; `mov x29, sp` is one of them */
#define INSN_ADD_FP_SP		0x910003fdu
#define INSN_ADD_FP_SP_MASK	0xffc003ffu
/* stp x29, x30, [sp, #imm7 * 8]! */
#define INSN_STP_PUSH		0xa9807bfdu
#define INSN_STP_PUSH_MASK	0xffc07fffu
/* sub sp, sp, #imm12, with or without lsl #12 */
#define INSN_SUB_SP		0xd10003ffu
#define INSN_SUB_SP_MASK	0xff8003ffu
#define INSN_SUB_SP_LSL12	0x00400000u
/* sub sp, sp, xN, with xN set by movz or movk xN, #imm16, lsl #(16 * hw) */
#define INSN_SUB_SP_REG		0xcb2063ffu
#define INSN_SUB_SP_REG_MASK	0xffe0ffffu
#define INSN_MOV_WIDE		0xd2800000u
#define INSN_MOV_WIDE_MASK	0xdf800000u

#define IMM12(insn)		(((insn) >> 10) & 0xfffu)
#define IMM16(insn)		((unsigned long)(((insn) >> 5) & 0xffffu))
#define HW(insn)		(((insn) >> 21) & 3u)
#define RM(insn)		(((insn) >> 16) & 31u)
#define RD(insn)		((insn) & 31u)
#define IMM7_SIGNED(insn)	((s32)((insn) << 10) >> 25)

/* The most that a prologue stores before it calls _mcount: 10 + 8 registers, varargs, arguments. */
#define PROLOGUE_MAX		64

u64 known_frames[KNOWN_FRAMES];

/*
 * In bytes, or 0 if unknown: backwards from the site to the instruction that sets x29, then to
 * paciasp. For a large frame a register is subtracted from sp, whose parts are added up. Allocation
 * in a loop is not supported.
 */
static unsigned long prologue_distance(const u32 *site)
{
	const u32 *first = site - PROLOGUE_MAX;
	const u32 *insn = site;
	u32 subtracted = 31;		/* xzr: no register yet */
	unsigned long distance;

	do {
		if (--insn == first)
			return 0;
	} while ((*insn & INSN_ADD_FP_SP_MASK) != INSN_ADD_FP_SP);
	distance = -(unsigned long)IMM12(*insn);
	while (*--insn != INSN_PACIASP) {
		if (insn == first)
			return 0;
		if ((*insn & INSN_STP_PUSH_MASK) == INSN_STP_PUSH)
			distance -= IMM7_SIGNED(*insn) * 8;
		else if ((*insn & INSN_SUB_SP_MASK) == INSN_SUB_SP)
			distance += IMM12(*insn) << (*insn & INSN_SUB_SP_LSL12 ? 12 : 0);
		else if ((*insn & INSN_SUB_SP_REG_MASK) == INSN_SUB_SP_REG)
			subtracted = RM(*insn);
		else if ((*insn & INSN_MOV_WIDE_MASK) == INSN_MOV_WIDE && RD(*insn) == subtracted)
			distance += IMM16(*insn) << 16 * HW(*insn);
	}
	return distance;
}

unsigned long find_frame(unsigned long ip, const unsigned long *record)
{
	unsigned long distance = prologue_distance((const u32 *)ip);
	unsigned long units = distance / FRAME_UNIT;
	unsigned long address = record[1];

	if (!units || units >> FRAME_SHIFT)
		return 0;
	if (sign(strip(address), (unsigned long)record + distance) != address)
		return 0;
	WRITE_ONCE(known_frames[KNOWN_FRAME_INDEX(ip)], ip << FRAME_SHIFT | units);
	return units;
}

#endif
