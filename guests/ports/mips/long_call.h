/* SPDX-License-Identifier: MIT */
#ifndef _LONG_CALL_H
#define _LONG_CALL_H

/*
 * The call site of a function that is compiled with -mlong-calls (M2), as all modules are:
 *
 *	lui	v1, %hi(_mcount)		with addresses of 64 bits (-mno-sym32)
 *	addiu	v1, v1, %lo(_mcount)		  lui     v1, %highest(_mcount)
 *	move	at, ra				  lui     at, %hi(_mcount)
 *	[move	v0, static chain]		  daddiu  v1, v1, %higher(_mcount)
 *	[addiu	$12, sp, where ra is stored]	  daddiu  at, at, %lo(_mcount)
 *	jalr	v1				  dsll32  v1, v1, 0
 *	addiu	sp, sp, -8			  daddu   v1, v1, at
 *	[move	static chain, v0]		instead of the first two
 *
 * n64 has daddiu for addiu, and nothing to do to sp: what stands before the jalr may be behind it.
 * -mmcount-ra-address sets $12, which takes more than one instruction in a large frame.
 *
 * The site is switched off by a branch over all of it (M1), in place of the first word. The rest is
 * unchanged, so a CPU that is in the middle of it can continue.
 */
#include <linux/types.h>

#define LUI_V1			0x3c030000u
#define LUI_MASK		0xffff0000u
#define BRANCH			0x10000000u	/* b: beq zero, zero */

/* A call site that begins with this word is a long call, on or off. */
static inline bool is_long_call(u32 word)
{
	return (word & LUI_MASK) == LUI_V1 || (word & LUI_MASK) == BRANCH;
}

/**
 * long_call_length - the number of words of a long call, with its delay slot and the restored sp
 * @code:	its first word, which is not read
 *
 * Return: 0 if it is not a long call.
 */
int long_call_length(const volatile u32 *code);

/**
 * long_call_load - encode the instructions by which a long call loads an address
 * @code:	the long call, for its form
 * @address:	the address
 * @load:	up to LONG_CALL_LOAD instructions
 *
 * Return: their number, or 0 if it cannot load this address.
 */
int long_call_load(const volatile u32 *code, unsigned long address, u32 *load);

#define LONG_CALL_LOAD		6

#endif
