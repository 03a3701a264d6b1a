// SPDX-License-Identifier: MIT
/*
 * What user mode comes to the kernel for: system calls, and whatever it must not do.
 */
#include <linux/arch.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/syscalls.h>

#include <asm/syscall.h>
#include <asm/traps.h>

void handle_user_exception(struct pt_regs *regs);

static long call(const struct pt_regs *regs)
{
	unsigned long arguments[6];
	unsigned long index = regs->syscall - __NR_Linux;

	if (index >= NR_syscalls - __NR_Linux)
		return -ENOSYS;
	syscall_get_arguments(regs, arguments);
	return sys_call_table[index](arguments[0], arguments[1], arguments[2], arguments[3],
				     arguments[4], arguments[5]);
}

static void handle_syscall(struct pt_regs *regs)
{
	regs->syscall = (s32)regs->regs[2];
	regs->epc += 4;
	raw_local_irq_enable();

	/* All that system call tracing costs while it is off: two looks at the flags. */
	if (traced_syscall())
		syscall_trace_enter(regs);
	syscall_set_return_value(regs, call(regs));
	if (traced_syscall())
		syscall_trace_leave(regs);

	for (;;) {
		raw_local_irq_disable();
		if (likely(!(READ_ONCE(current->flags) & _TIF_NEED_RESCHED)))
			break;
		raw_local_irq_enable();
		schedule();
	}
}

/* From entry.S, with interrupts masked. */
void handle_user_exception(struct pt_regs *regs)
{
	u32 code = (regs->cause & CAUSE_EXCCODE) >> CAUSE_EXCCODE_SHIFT;

	/* Behind a branch its address would be the branch's, and going on would mean to follow it. */
	if (code == CAUSE_EXCCODE_SYS && !(regs->cause & CAUSE_BD)) {
		handle_syscall(regs);
		return;
	}
	raw_local_irq_enable();
	user_exception(regs, exception_name(regs));
}
