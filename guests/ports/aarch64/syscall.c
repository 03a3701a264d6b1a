// SPDX-License-Identifier: MIT
/* C13: which function a system call is, and how it is named. */
#include <linux/ftrace.h>
#include <linux/string.h>
#include <linux/syscalls.h>

#ifdef CONFIG_SYSCALL_TRACEPOINTS

/* What asm/syscall_wrapper.h puts in front of sys_NAME. */
#define PREFIX	"__arm64_"

unsigned long arch_syscall_addr(int nr)
{
	return (unsigned long)sys_call_table[nr];
}

bool arch_syscall_match_sym_name(const char *sym, const char *name)
{
	size_t length = sizeof(PREFIX) - 1;

	return !strncmp(sym, PREFIX, length) && !strcmp(sym + length, name);
}

#endif
