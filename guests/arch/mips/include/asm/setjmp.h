/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SETJMP_H
#define _ASM_SETJMP_H

/*
 * s0-s7, sp, fp, ra: 11 words of 8 bytes at most; the callee-saved floating point: 8
 * doubles; and how deep the graph tracer is.
 */
typedef unsigned long long jmp_buf[11 + 8 + 1];

#endif
