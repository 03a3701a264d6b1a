/* SPDX-License-Identifier: MIT */
#ifndef _ASM_SYSCALL_H
#define _ASM_SYSCALL_H

/*
 * The conventions of Linux: the number in v0, arguments in a0-a3 (n64: a0-a5) and then on the
 * user's stack, after the argument area; the result in v0, or with a3 = 1 the error number.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/ptrace.h>
#include <asm/user.h>

/** syscall_get_nr - the number of the thread's system call; -1: none */
static inline long syscall_get_nr(const struct pt_regs *regs)
{
	return regs->syscall;
}

/* A word of user memory; 0 if it cannot be read. */
static inline unsigned long user_word(unsigned long address)
{
	if (address < USER_BASE || address > USER_BASE + USER_SIZE - sizeof(long) ||
	    address % sizeof(long))
		return 0;
	return *(const unsigned long *)address;
}

/** syscall_get_arguments - all six, whatever their number */
static inline void syscall_get_arguments(const struct pt_regs *regs, unsigned long *arguments)
{
	int i;

	for (i = 0; i < 6; i++) {
#if _MIPS_SIM == _ABI64
		arguments[i] = regs->regs[4 + i];
#else
		arguments[i] = i < 4 ? regs->regs[4 + i] :
				       user_word(regs->regs[29] + i * sizeof(long));
#endif
	}
}

/** syscall_get_return_value - the result, or a negative error number */
static inline long syscall_get_return_value(const struct pt_regs *regs)
{
	return regs->regs[7] ? -regs->regs[2] : regs->regs[2];
}

static inline void syscall_set_return_value(struct pt_regs *regs, long value)
{
	bool error = value < 0 && value >= -4095;

	regs->regs[2] = error ? -value : value;
	regs->regs[7] = error;
}

#endif
