/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/* The conventions of Linux (EABI): the number in r7, arguments in r0..r5, the result in r0. */
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

	arguments[0] = regs->orig_r0;
	for (i = 1; i < 6; i++)
		arguments[i] = regs->regs[i];
}

/** syscall_get_return_value - the result, or a negative error number */
static inline long syscall_get_return_value(const struct pt_regs *regs)
{
	return regs->regs[0];
}

static inline void syscall_set_return_value(struct pt_regs *regs, long value)
{
	regs->regs[0] = value;
}

#endif
