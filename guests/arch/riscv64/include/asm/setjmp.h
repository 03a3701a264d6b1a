/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SETJMP_H
#define _ASM_SETJMP_H

/* ra, sp, s0..s11, fs0..fs11, curr_ret_stack */
typedef unsigned long jmp_buf[27];

#endif
