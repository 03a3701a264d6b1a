/* SPDX-License-Identifier: MIT */
#ifndef _PROLOGUE_H
#define _PROLOGUE_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * A function's prologue, in one word:
 *
 *	bits 1-0	PROLOGUE_*; 0 if it is not decoded yet, or unknown
 *	bits 9-2	where it stores ra: words below sp at the function's entry
 *	bits 31-10	how much it subtracts from sp, in units of 8 bytes
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

/*
 * Prologues do not change, so each is decoded once, into a word for each instruction. An entry for
 * each megabyte of memory: the distance from an instruction to its word; 0 where there are no
 * functions.
 */
#define PROLOGUE_MAP_SIZE	128

extern unsigned long prologue_map[PROLOGUE_MAP_SIZE];

static __always_inline unsigned long *prologue_map_at(unsigned long ip)
{
	return &prologue_map[ip >> 20 & (PROLOGUE_MAP_SIZE - 1)];
}

/** known_prologue - the decoded prologue of the function with the call site @ip */
static __always_inline u32 known_prologue(unsigned long ip)
{
	unsigned long distance = *prologue_map_at(ip);

	return likely(distance) ? *(const u32 *)(ip + distance) : PROLOGUE_UNKNOWN;
}

#endif
