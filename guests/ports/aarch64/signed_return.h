/* SPDX-License-Identifier: MIT */
#ifndef _SIGNED_RETURN_H
#define _SIGNED_RETURN_H

/*
 * Return addresses signed by the traced function (B33).
 *
 * With -mbranch-protection=pac-ret a function begins with paciasp: x30 is signed with key A and, as
 * modifier, sp at the entry. At a site of form mcount the frame record holds the signed value, and
 * the function will authenticate the value there with the same modifier. No register holds the
 * distance from the record to that sp; it is decoded from the prologue, once for each site. The
 * signature found verifies it: if it does not match, the function is not hijacked.
 *
 * A patchable entry comes before paciasp, so nothing is signed there.
 *
 * pacia1716 and xpaclri are hints, and nops on a CPU without PAC.
 */
#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct return_address - a return address without its signature, and the modifier
 * @pc: the address without the signature
 * @modifier: sp at the function's entry
 */
struct return_address {
	unsigned long pc;
	unsigned long modifier;
};

#if defined(__ARM_FEATURE_PAC_DEFAULT) && !defined(CC_USING_PATCHABLE_FUNCTION_ENTRY)

#if !(__ARM_FEATURE_PAC_DEFAULT & 1)
#error "This port knows return addresses that are signed with key A; leave out +b-key"
#endif

/*
 * An entry of the cache is one word, so that it is read and written as a whole: above FRAME_SHIFT
 * the site, below it the distance from the frame record to sp at the entry, in units of 16 bytes.
 * No two sites share 32 bytes of text.
 */
#define FRAME_SHIFT		20
#define FRAME_UNIT		16
#define KNOWN_FRAMES		4096
#define KNOWN_FRAME_INDEX(ip)	((ip) / 32 % KNOWN_FRAMES)

extern u64 known_frames[KNOWN_FRAMES];

/**
 * find_frame - decode a prologue and cache the result
 * @ip: the site
 * @record: the function's frame record
 *
 * Return: the distance in units of 16 bytes, 0 if it does not match the signature in the record.
 */
unsigned long find_frame(unsigned long ip, const unsigned long *record);

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

static __always_inline bool read_return_address(const unsigned long *parent, unsigned long ip,
						struct return_address *address)
{
	const unsigned long *record = parent - 1;
	unsigned long distance = known_frames[KNOWN_FRAME_INDEX(ip)] ^ ip << FRAME_SHIFT;

	if (unlikely(distance >> FRAME_SHIFT)) {
		distance = find_frame(ip, record);
		if (!distance)
			return false;
	}
	address->modifier = (unsigned long)record + distance * FRAME_UNIT;
	address->pc = strip(*parent);
	return true;
}

static __always_inline unsigned long replace_return_address(const struct return_address *address,
							    unsigned long pc)
{
	return sign(pc, address->modifier);
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
