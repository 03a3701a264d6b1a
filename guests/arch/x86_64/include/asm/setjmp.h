/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SETJMP_H
#define _ASM_SETJMP_H

/* rbx, rbp, r12..r15, rsp behind the call, the return address, curr_ret_stack */
typedef unsigned long jmp_buf[9];

#endif
