/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SETJMP_H
#define _ASM_SETJMP_H

/* x19..x30, sp, d8..d15 (AAPCS64 preserves only the low half of v8..v15), curr_ret_stack. */
typedef unsigned long jmp_buf[22];

#endif
