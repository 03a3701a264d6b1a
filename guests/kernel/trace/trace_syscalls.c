// SPDX-License-Identifier: MIT
/*
 * Events of system calls: raw ones with six numbers, and those of single calls with named
 * arguments.
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "trace_event.h"

#ifdef CONFIG_SYSCALL_TRACEPOINTS

#include <linux/syscalls.h>

#include <asm/syscall.h>

#define NR_CALLS	(NR_syscalls - __NR_Linux)
#define MAX_ARGUMENTS	6

extern struct syscall_metadata __start_syscalls_metadata[], __stop_syscalls_metadata[];

/* One more than the index of a call's metadata; 0: none. */
static u8 metadata_of[NR_CALLS];

unsigned long __weak arch_syscall_addr(int nr)
{
	return (unsigned long)sys_call_table[nr - __NR_Linux];
}

#ifndef ARCH_HAS_SYSCALL_MATCH_SYM_NAME
static bool arch_syscall_match_sym_name(const char *symbol, const char *name)
{
	return !strcmp(symbol, name);
}
#endif

/* The name of the function at an address, as from kallsyms. */
static const char *find_symbol(unsigned long function)
{
	const struct syscall_metadata *call;

	for (call = __start_syscalls_metadata; call < __stop_syscalls_metadata; call++)
		if (call->function == function)
			return call->symbol;
	return NULL;
}

static struct syscall_metadata *find_metadata(const char *symbol)
{
	struct syscall_metadata *call;

	for (call = __start_syscalls_metadata; call < __stop_syscalls_metadata; call++)
		if (arch_syscall_match_sym_name(symbol, call->name))
			return call;
	return NULL;
}

void trace_event_init(void)
{
	u32 count = __stop_syscalls_metadata - __start_syscalls_metadata;
	struct syscall_metadata *call;
	const char *symbol;
	int nr;

	if (count > TRACE_MAX_SYSCALLS)
		panic("trace: %u system calls, %d can have events", count,
		      TRACE_MAX_SYSCALLS);
	for (nr = __NR_Linux; nr < NR_syscalls; nr++) {
		symbol = find_symbol(arch_syscall_addr(nr));
		call = symbol ? find_metadata(symbol) : NULL;
		if (!call)
			continue;
		call->nr = nr;
		metadata_of[nr - __NR_Linux] = call - __start_syscalls_metadata + 1;
	}
}

/* The index of a call's metadata if this event is enabled, or -1. */
static int wanted(long nr, u8 event)
{
	int index = -1;

	if (event_control.enabled & TRACE_EVENT_SYSCALLS && nr >= __NR_Linux && nr < NR_syscalls)
		index = metadata_of[nr - __NR_Linux] - 1;
	return index >= 0 && event_control.syscalls[index] & event ? index : -1;
}

struct sys_enter_entry {
	struct trace_entry entry;
	long id;
	unsigned long args[MAX_ARGUMENTS];
} __packed __aligned(RB_ALIGNMENT);

struct sys_exit_entry {
	struct trace_entry entry;
	long id;
	long ret;
} __packed __aligned(RB_ALIGNMENT);

struct syscall_enter_entry {
	struct trace_entry entry;
	s32 nr;
	TRACE_LONG_PADDING
	unsigned long args[];
} __packed __aligned(RB_ALIGNMENT);

struct syscall_exit_entry {
	struct trace_entry entry;
	s32 nr;
	TRACE_LONG_PADDING
	long ret;
} __packed __aligned(RB_ALIGNMENT);

void trace_sys_enter(struct pt_regs *regs, long nr)
{
	unsigned long from = (unsigned long)__builtin_return_address(0);
	unsigned long arguments[MAX_ARGUMENTS];
	int index = wanted(nr, SYSCALL_ENTER);
	struct trace_event_buffer buffer;
	struct syscall_enter_entry *call;
	struct sys_enter_entry *entry;
	u32 size;

	syscall_get_arguments(regs, arguments);
	if (event_control.enabled & TRACE_EVENT_SYS_ENTER) {
		entry = trace_event_reserve(&buffer, TRACE_SYS_ENTER, sizeof(*entry));
		if (entry) {
			entry->id = nr;
			memcpy(entry->args, arguments, sizeof(arguments));
			trace_event_commit(&buffer, from);
		}
	}
	if (index < 0)
		return;
	size = __start_syscalls_metadata[index].nr_arguments * sizeof(long);
	call = trace_event_reserve(&buffer, TRACE_SYSCALL(index), sizeof(*call) + size);
	if (call) {
		call->nr = nr;
		memcpy(call->args, arguments, size);
		trace_event_commit(&buffer, from);
	}
}

void trace_sys_exit(struct pt_regs *regs, long ret)
{
	unsigned long from = (unsigned long)__builtin_return_address(0);
	long nr = syscall_get_nr(regs);
	int index = wanted(nr, SYSCALL_EXIT);
	struct trace_event_buffer buffer;
	struct syscall_exit_entry *call;
	struct sys_exit_entry *entry;

	if (event_control.enabled & TRACE_EVENT_SYS_EXIT) {
		entry = trace_event_reserve(&buffer, TRACE_SYS_EXIT, sizeof(*entry));
		if (entry) {
			entry->id = nr;
			entry->ret = ret;
			trace_event_commit(&buffer, from);
		}
	}
	if (index < 0)
		return;
	call = trace_event_reserve(&buffer, TRACE_SYSCALL(index) + 1, sizeof(*call));
	if (call) {
		call->nr = nr;
		call->ret = ret;
		trace_event_commit(&buffer, from);
	}
}

#else

void trace_event_init(void)
{
}

#endif
