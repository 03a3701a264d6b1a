/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux (EABI): the number in r7, arguments in r0..r5, the result in r0. */
#define SYSCALL_REGISTER(regs, n)	((regs)->regs[n])
#define SYSCALL_ORIG_ARGUMENT(regs)	((regs)->orig_r0)

#include <asm-generic/syscall.h>

#endif
