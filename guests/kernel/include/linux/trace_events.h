/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_TRACE_EVENTS_H
#define _LINUX_TRACE_EVENTS_H

/*
 * Trace events other than function calls. Each is disabled until a debugger sets its bit, except
 * those of trace_printk().
 */
#include <linux/compiler.h>
#include <linux/sched.h>

struct pt_regs;

#define TRACE_EVENT_SCHED_SWITCH	1
#define TRACE_EVENT_SYS_ENTER		2	/* raw_syscalls */
#define TRACE_EVENT_SYS_EXIT		4
#define TRACE_EVENT_SYSCALLS		8	/* those of single system calls: see @syscalls */
#define TRACE_EVENT_ANY_SYSCALL		14

#define TRACE_OPTION_STACKTRACE		1	/* a kernel_stack event after every event */
#define TRACE_OPTION_GRAPH_NO_IRQS	4	/* the graph tracer skips interrupts */
#define TRACE_OPTION_FILTERS		2	/* there are filters of events, or were */

#define EVENT_IGNORED	1	/* in event_ignore: no events */
#define EVENT_FILTERS	2	/* some have filters: see trace_filter.h */

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
 * struct trace_pid_control - which threads are traced; written by the debugger
 * @nr_ftrace_pids:		entries in @ftrace_pids, the only threads with function events;
 *				0: all threads
 * @nr_ftrace_notrace_pids:	entries in @ftrace_notrace_pids, threads without function events
 * @nr_event_pids:		likewise for other events
 * @nr_event_notrace_pids:	likewise
 *
 * It applies to threads started later. For existing threads the debugger sets ftrace_ignore and
 * event_ignore.
 */
struct trace_pid_control {
	u32 nr_ftrace_pids;
	u32 nr_ftrace_notrace_pids;
	u32 nr_event_pids;
	u32 nr_event_notrace_pids;
	s32 ftrace_pids[TRACE_MAX_PIDS];
	s32 ftrace_notrace_pids[TRACE_MAX_PIDS];
	s32 event_pids[TRACE_MAX_PIDS];
	s32 event_notrace_pids[TRACE_MAX_PIDS];
};

extern struct trace_pid_control trace_pid_control;

/** trace_event_init - find the numbers of the system calls with metadata */
void trace_event_init(void);

/* On the slow path of a system call, if the thread has _TIF_SYSCALL_TRACEPOINT. */
void trace_sys_enter(struct pt_regs *regs, long nr);
void trace_sys_exit(struct pt_regs *regs, long ret);

#define TRACE_MARKER_SIZE	960

/**
 * struct trace_marker_control - the text of tracing_mark_write(); written by the debugger
 * @size:	bytes of @text, with its NUL
 * @text:	the text
 */
struct trace_marker_control {
	u32 size;
	u8 text[TRACE_MARKER_SIZE];
};

extern struct trace_marker_control trace_marker_control;

/**
 * tracing_mark_write - write a print event for a debugger, which calls it; -EBADF: tracing is off
 */
int tracing_mark_write(void);

/** trace_printk - write a print event; returns the length of the text before truncation */
int trace_printk(const char *format, ...) __printf(1, 2);

#endif
