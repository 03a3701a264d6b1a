// SPDX-License-Identifier: MIT
/*
 * What user mode comes to the kernel for: system calls, and whatever it must not do.
 */
#include <linux/arch.h>
#include <linux/irqflags.h>
#include <linux/syscalls.h>

#include <asm/ptrace.h>
#include <asm/traps.h>

void handle_user_exception(struct pt_regs *regs);

/* From entry.S, with interrupts masked. */
void handle_user_exception(struct pt_regs *regs)
{
	u32 code = (regs->cause & CAUSE_EXCCODE) >> CAUSE_EXCCODE_SHIFT;

	/* Behind a branch its address would be the branch's, and going on would mean to follow it. */
	if (code == CAUSE_EXCCODE_SYS && !(regs->cause & CAUSE_BD)) {
		regs->syscall = (s32)regs->regs[2];
		regs->epc += 4;
		raw_local_irq_enable();
		do_syscall(regs);
		prepare_return_to_user();
		return;
	}
	raw_local_irq_enable();
	user_exception(regs, exception_name(regs));
}
