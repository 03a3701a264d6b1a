/* SPDX-License-Identifier: MIT */
#ifndef _PROLOGUE_H
#define _PROLOGUE_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * What a function has done when it comes to its call site, in one word:
 *
 *	bits 1-0	PROLOGUE_*; 0 if nobody has looked yet, or if it cannot be told
 *	bits 9-2	where it has stored ra: words down from sp as it was on entry
 *	bits 31-10	what it has taken from sp since, in 8 bytes
 */
#define PROLOGUE_UNKNOWN	0u
#define PROLOGUE_LEAF		1u	/* ra is not stored */
#define PROLOGUE_STORED		2u	/* ra is stored */

#define PROLOGUE_RA(prologue)		((unsigned long)(prologue) & 255 * 4)
#define PROLOGUE_FRAME(prologue)	((unsigned long)((prologue) >> 10) * 8)

/**
 * decode_prologue - read the code between a function's first instruction and its call site
 * @ip:		the jal, or the lui of a long call
 *
 * Return: PROLOGUE_UNKNOWN if there is anything in it that gcc does not write there.
 */
u32 decode_prologue(unsigned long ip);

/* One word for each instruction of the kernel, whose prologues stay what they are. */
extern u32 __prologues[];
extern const char _text[], __text_size[];	/* the size is the symbol's value */

/** is_kernel_code - whether known_prologue() has a place for what lies at @ip */
static __always_inline bool is_kernel_code(unsigned long ip)
{
	return ip - (unsigned long)_text < (unsigned long)__text_size;
}

/** known_prologue - where the prologue of a function of the kernel is remembered */
static __always_inline u32 *known_prologue(unsigned long ip)
{
	return (u32 *)((unsigned long)__prologues + (ip - (unsigned long)_text));
}

#endif
