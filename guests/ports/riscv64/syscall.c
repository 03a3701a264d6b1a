// SPDX-License-Identifier: MIT
/* C13: the functions of system calls, and the events on the slow path of system calls. */
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/trace_events.h>

#include <asm/syscall.h>

#ifdef CONFIG_SYSCALL_TRACEPOINTS

unsigned long arch_syscall_addr(int nr)
{
	if (nr < 0 || nr >= NR_syscalls)
		return 0;
	return (unsigned long)sys_call_table[nr];
}

void syscall_trace_enter(struct pt_regs *regs)
{
	if (current->flags & _TIF_SYSCALL_TRACEPOINT)
		trace_sys_enter(regs, syscall_get_nr(regs));
}

void syscall_trace_leave(struct pt_regs *regs)
{
	if (current->flags & _TIF_SYSCALL_TRACEPOINT)
		trace_sys_exit(regs, syscall_get_return_value(regs));
}

#endif
