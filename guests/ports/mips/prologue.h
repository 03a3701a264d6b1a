/* SPDX-License-Identifier: MIT */
#ifndef _PROLOGUE_H
#define _PROLOGUE_H

#include <linux/types.h>

/**
 * struct prologue - what a function has done when it comes to its call site
 * @frame_size:	bytes that it has taken from sp
 * @ra_offset:	where it has stored ra, counted from sp as it is at the call site
 * @leaf:	it has not stored ra; @ra_offset means nothing
 */
struct prologue {
	long frame_size;
	long ra_offset;
	bool leaf;
};

/**
 * decode_prologue - read the code between a function's first instruction and its call site
 * @ip:		the jal
 * @prologue:	what it does
 *
 * Return: false if there is anything in it that gcc does not write there: then nothing is known.
 */
bool decode_prologue(unsigned long ip, struct prologue *prologue);

#endif
