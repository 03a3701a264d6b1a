/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_TRACE_EVENTS_H
#define _LINUX_TRACE_EVENTS_H

/*
 * Events that are no function calls. Each is off until a debugger sets its bit, except what
 * trace_printk() writes.
 */
#include <linux/compiler.h>
#include <linux/sched.h>

struct pt_regs;

#define TRACE_EVENT_SCHED_SWITCH	1
#define TRACE_EVENT_SYS_ENTER		2	/* raw_syscalls */
#define TRACE_EVENT_SYS_EXIT		4
#define TRACE_EVENT_SYSCALLS		8	/* some of those of single calls: see @syscalls */
#define TRACE_EVENT_ANY_SYSCALL		14

#define TRACE_OPTION_STACKTRACE		1	/* a kernel_stack event behind every event */
#define TRACE_OPTION_GRAPH_NO_IRQS	2	/* the graph tracer passes interrupts over */

#define SYSCALL_ENTER	1
#define SYSCALL_EXIT	2

#define TRACE_MAX_SYSCALLS	64

/**
 * struct trace_event_control - which events are recorded; written by the debugger
 * @enabled:	TRACE_EVENT_* bits
 * @options:	TRACE_OPTION_* bits
 * @syscalls:	SYSCALL_ENTER and SYSCALL_EXIT bits of each struct syscall_metadata
 */
struct trace_event_control {
	u32 enabled;
	u32 options;
	u8 syscalls[TRACE_MAX_SYSCALLS];
};

extern struct trace_event_control trace_event_control;

#define TRACE_MAX_PIDS	32

/**
 * struct trace_pid_control - the only threads that are traced; written by the debugger
 * @nr_ftrace_pids:	entries in @ftrace_pids, whose functions are; 0: those of all threads
 * @nr_event_pids:	likewise for events
 *
 * For threads that begin later: of the others the debugger sets ftrace_ignore and event_ignore.
 */
struct trace_pid_control {
	u32 nr_ftrace_pids;
	u32 nr_event_pids;
	s32 ftrace_pids[TRACE_MAX_PIDS];
	s32 event_pids[TRACE_MAX_PIDS];
};

extern struct trace_pid_control trace_pid_control;

/** trace_event_init - match the system calls with what is known of them */
void trace_event_init(void);

/* On the slow path of a system call, if the thread has _TIF_SYSCALL_TRACEPOINT. */
void trace_sys_enter(struct pt_regs *regs, long nr);
void trace_sys_exit(struct pt_regs *regs, long ret);

/** trace_printk - write a print event; returns the characters that there were, some perhaps cut */
int trace_printk(const char *format, ...) __printf(1, 2);

#endif
