/* SPDX-License-Identifier: MIT */
#ifndef _SETJMP_H
#define _SETJMP_H

/* jmp_buf: the architecture's callee-saved registers. */
#include <asm/setjmp.h>

int setjmp(jmp_buf environment) __attribute__((returns_twice));
void longjmp(jmp_buf environment, int value) __attribute__((noreturn));

#endif
