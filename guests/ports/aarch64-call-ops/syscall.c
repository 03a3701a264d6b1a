// SPDX-License-Identifier: MIT
/*
 * C13: the functions of system calls and their names, and the events on the slow path of system
 * calls, which the entry code takes only for threads with _TIF_SYSCALL_WORK.
 */
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/syscalls.h>
#include <linux/trace_events.h>

#include <asm/syscall.h>

#ifdef CONFIG_SYSCALL_TRACEPOINTS

/* The prefix of asm/syscall_wrapper.h before sys_NAME. */
#define PREFIX	"__arm64_"

unsigned long arch_syscall_addr(int nr)
{
	if (nr < 0 || nr >= NR_syscalls)
		return 0;
	return (unsigned long)sys_call_table[nr];
}

bool arch_syscall_match_sym_name(const char *sym, const char *name)
{
	size_t length = sizeof(PREFIX) - 1;

	return !strncmp(sym, PREFIX, length) && !strcmp(sym + length, name);
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
