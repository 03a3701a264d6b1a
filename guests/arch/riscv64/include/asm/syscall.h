/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux: the number in a7, arguments in a0..a5, the result in a0. */
#define SYSCALL_REGISTER(regs, n)	PT_REG(regs, 10 + (n))
#define SYSCALL_ORIG_ARGUMENT(regs)	((regs)->orig_a0)

#include <asm-generic/syscall.h>

#endif
