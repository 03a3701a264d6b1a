// SPDX-License-Identifier: MIT
#include <asm/ptrace.h>
#include <linux/bug.h>

void user_synchronous(struct pt_regs *regs, unsigned long esr, unsigned long far);
void prepare_return_to_user(struct pt_regs *regs);

void user_synchronous(struct pt_regs *regs, unsigned long esr, unsigned long far)
{
	panic("no user mode");
}

void prepare_return_to_user(struct pt_regs *regs)
{
	__asm__ volatile("msr daifset, #0xf");
}
