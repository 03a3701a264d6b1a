/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux: the number in w8, arguments in x0..x5, the result in x0. */
#define SYSCALL_REGISTER(regs, n)	((regs)->regs[n])
#define SYSCALL_ORIG_ARGUMENT(regs)	((regs)->orig_x0)

#include <asm-generic/syscall.h>

#endif
