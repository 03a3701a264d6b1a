// SPDX-License-Identifier: MIT
/*
 * Exceptions from user mode: system calls and faults.
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

	/* In a delay slot, returning after it would need emulation of the branch. */
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
