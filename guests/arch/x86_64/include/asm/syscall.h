/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux: number and result in rax, arguments in rdi, rsi, rdx, r10, r8, r9. */
#include <asm/ptrace.h>

/** syscall_get_nr - the number of the thread's system call; -1: none */
static inline long syscall_get_nr(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/** syscall_get_arguments - all six, whatever their number */
static inline void syscall_get_arguments(const struct pt_regs *regs, unsigned long *arguments)
{
	arguments[0] = regs->di;
	arguments[1] = regs->si;
	arguments[2] = regs->dx;
	arguments[3] = regs->r10;
	arguments[4] = regs->r8;
	arguments[5] = regs->r9;
}

/** syscall_get_return_value - the result, or a negative error number */
static inline long syscall_get_return_value(const struct pt_regs *regs)
{
	return regs->ax;
}

static inline void syscall_set_return_value(struct pt_regs *regs, long value)
{
	regs->ax = value;
}

#endif
