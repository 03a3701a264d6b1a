/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_TRIGGERS_H
#define _LINUX_FTRACE_TRIGGERS_H

#include <linux/types.h>

#define FTRACE_MAX_TRIGGERS	64
#define FTRACE_MAX_HIDDEN	1024

#define TRIGGER_TRACEON		1
#define TRIGGER_TRACEOFF	2
#define TRIGGER_STACKTRACE	3

#define TRIGGER_UNLIMITED	0xffffffffu

/**
 * struct ftrace_trigger - a command at a function's entry
 * @ip:		its call site
 * @action:	TRIGGER_*
 * @count:	remaining executions; TRIGGER_UNLIMITED: no limit
 */
struct ftrace_trigger {
	unsigned long ip;
	u32 action;
	u32 count;
};

/**
 * struct ftrace_trigger_control - function triggers; written by the debugger
 * @nr_triggers:	entries in @triggers
 * @nr_hidden:		entries in @hidden
 * @tracer:		the ftrace_func_t to call after the triggers; 0: none
 * @triggers:		sorted by @ip
 * @hidden:		sorted: call sites enabled only for triggers or the stack tracer
 */
struct ftrace_trigger_control {
	u32 nr_triggers;
	u32 nr_hidden;
	unsigned long tracer;
	struct ftrace_trigger triggers[FTRACE_MAX_TRIGGERS];
	unsigned long hidden[FTRACE_MAX_HIDDEN];
};

extern struct ftrace_trigger_control ftrace_trigger_control;

/** ftrace_is_hidden - whether a call site is hidden from the tracer */
bool ftrace_is_hidden(unsigned long ip);

#endif
