/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SETJMP_H
#define _ASM_SETJMP_H

/* r4..r11, sp, lr; d8..d15; curr_ret_stack. Of 64 bits for the alignment of d8. */
typedef unsigned long long jmp_buf[5 + 8 + 1];

#endif
