/* SPDX-License-Identifier: MIT */
#ifndef _ASM_GENERIC_SYSCALL_H
#define _ASM_GENERIC_SYSCALL_H

/*
 * Included by the asm/syscall.h of an arch whose result is in the register of the first argument.
 * It defines SYSCALL_REGISTER(regs, n), the register of argument n, and
 * SYSCALL_ORIG_ARGUMENT(regs), the saved argument 0.
 */
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

	arguments[0] = SYSCALL_ORIG_ARGUMENT(regs);
	for (i = 1; i < 6; i++)
		arguments[i] = SYSCALL_REGISTER(regs, i);
}

/** syscall_get_return_value - the result, or a negative error number */
static inline long syscall_get_return_value(const struct pt_regs *regs)
{
	return SYSCALL_REGISTER(regs, 0);
}

static inline void syscall_set_return_value(struct pt_regs *regs, long value)
{
	SYSCALL_REGISTER(regs, 0) = value;
}

#endif
