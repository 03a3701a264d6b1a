/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux: the number in a7, arguments in a0..a5, the result in a0. */
#include <asm/ptrace.h>

/** syscall_get_nr - the number of the thread's system call; -1: none */
static inline long syscall_get_nr(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/** syscall_get_arguments - all six, whatever their number */
static inline void syscall_get_arguments(const struct pt_regs *regs, unsigned long *arguments)
{
	int i;

	arguments[0] = regs->orig_a0;
	for (i = 1; i < 6; i++)
		arguments[i] = PT_REG(regs, 10 + i);
}

/** syscall_get_return_value - the result, or a negative error number */
static inline long syscall_get_return_value(const struct pt_regs *regs)
{
	return PT_REG(regs, 10);
}

static inline void syscall_set_return_value(struct pt_regs *regs, long value)
{
	PT_REG(regs, 10) = value;
}

#endif
