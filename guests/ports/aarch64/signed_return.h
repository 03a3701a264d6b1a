/* SPDX-License-Identifier: MIT */
/*
 * Return addresses that the traced function has signed (B33).
 *
 * With -mbranch-protection=pac-ret a function begins with paciasp: x30 is signed with key A and, as
 * modifier, sp as it was on entry. At a site of form mcount the frame record holds the signed
 * value, and the function will authenticate whatever it finds there, with the same modifier. The
 * distance from the frame record to that sp stands nowhere; the prologue tells it. The signature
 * found proves whether it was read correctly: where not, the function is left alone.
 *
 * A patchable entry comes before paciasp, and there is nothing to do.
 *
 * pacia1716 and xpaclri are hints. A CPU that does not sign takes them for nops, so everything
 * here is right for it too.
 */
#ifndef SIGNED_RETURN_H
#define SIGNED_RETURN_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct return_address - one as a program counter, and how it was signed
 * @pc: where the function returns to
 * @sp: the modifier
 */
struct return_address {
	unsigned long pc;
	unsigned long sp;
};

#if defined(__ARM_FEATURE_PAC_DEFAULT) && !defined(CC_USING_PATCHABLE_FUNCTION_ENTRY)

#if !(__ARM_FEATURE_PAC_DEFAULT & 1)
#error "This port knows return addresses that are signed with key A; leave out +b-key"
#endif

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

#define IMM12(insn)		(((insn) >> 10) & 0xfffu)
#define IMM7_SIGNED(insn)	((int)((insn) << 10) >> 25)

/* No prologue is longer: it saves 12 pairs of registers at most, and varargs 8 q registers. */
#define PROLOGUE_MAX		64

static __always_inline unsigned long sign(unsigned long pc, unsigned long modifier)
{
	register unsigned long x17 __asm__("x17") = pc;
	register unsigned long x16 __asm__("x16") = modifier;

	__asm__("hint #8" : "+r"(x17) : "r"(x16));	/* pacia1716 */
	return x17;
}

static __always_inline unsigned long strip(unsigned long pc)
{
	register unsigned long x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30));			/* xpaclri */
	return x30;
}

/*
 * sp as it was on entry of the function with a site at ip, whose record is at fp; 0 if the prologue
 * is of a kind not known here. Read backwards, from the instruction that sets x29 to paciasp.
 */
static __always_inline unsigned long entry_sp(unsigned long ip, unsigned long fp)
{
	const u32 *insn = (const u32 *)ip;
	const u32 *first = insn - PROLOGUE_MAX;
	unsigned long sp;

	do {
		if (unlikely(--insn == first))
			return 0;
	} while ((*insn & INSN_ADD_FP_SP_MASK) != INSN_ADD_FP_SP);
	sp = fp - IMM12(*insn);
	while (*--insn != INSN_PACIASP) {
		if (unlikely(insn == first))
			return 0;
		if ((*insn & INSN_STP_PUSH_MASK) == INSN_STP_PUSH)
			sp -= IMM7_SIGNED(*insn) * 8;
		else if ((*insn & INSN_SUB_SP_MASK) == INSN_SUB_SP)
			sp += IMM12(*insn) << (*insn & INSN_SUB_SP_LSL12 ? 12 : 0);
	}
	return sp;
}

static __always_inline bool read_return_address(const unsigned long *parent, unsigned long ip,
						struct return_address *address)
{
	address->pc = strip(*parent);
	address->sp = entry_sp(ip, (unsigned long)(parent - 1));
	return address->sp && sign(address->pc, address->sp) == *parent;
}

static __always_inline unsigned long replace_return_address(const struct return_address *address,
							    unsigned long pc)
{
	return sign(pc, address->sp);
}

#else

static __always_inline bool read_return_address(const unsigned long *parent, unsigned long ip,
						struct return_address *address)
{
	address->pc = *parent;
	return true;
}

static __always_inline unsigned long replace_return_address(const struct return_address *address,
							    unsigned long pc)
{
	return pc;
}

#endif
#endif
