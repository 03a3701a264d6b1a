/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_SELFTEST_H
#define _LINUX_FTRACE_SELFTEST_H

#include <linux/ftrace.h>

#ifdef FTRACE_WITH_OPS

#define FTRACE_SELFTESTS		3
#define FTRACE_SELFTEST_ARGUMENTS	16

/* The action of a tracer under test at its next call. */
enum ftrace_selftest_action {
	SELFTEST_LOOK,
	SELFTEST_SET_INSTRUCTION_POINTER,	/* to the value */
	SELFTEST_SET_ARGUMENT,			/* the one with this number, to the value */
	SELFTEST_RETURN,			/* from the traced function, with the value */
};

/**
 * struct ftrace_selftest - a tracer for a debugger's tests of the port
 * @ops:		for register_ftrace_function(); it has one function at most
 * @function:		that function's call site
 * @action:		what to do, enum ftrace_selftest_action
 * @number:		the argument to change
 * @value:		for the action
 * @calls:		how often it was called; the rest is of the last call
 * @ip:			what it was called with
 * @parent_ip:		likewise
 * @op:			likewise
 * @instruction_pointer: what the accessors of asm/ftrace.h say
 * @stack_pointer:	likewise
 * @frame_pointer:	likewise
 * @return_address:	likewise
 * @return_value:	likewise
 * @regs:		struct pt_regs, or 0
 * @arguments:		likewise, of each number
 */
struct ftrace_selftest {
	struct ftrace_ops ops;
	unsigned long function;
	unsigned long action;
	unsigned long number;
	unsigned long value;
	unsigned long calls;
	unsigned long ip;
	unsigned long parent_ip;
	unsigned long op;
	unsigned long instruction_pointer;
	unsigned long stack_pointer;
	unsigned long frame_pointer;
	unsigned long return_address;
	unsigned long return_value;
	unsigned long regs;
	unsigned long arguments[FTRACE_SELFTEST_ARGUMENTS];
};

/* Set up as tracers of all functions; written by the debugger. */
extern struct ftrace_selftest ftrace_selftests[FTRACE_SELFTESTS];

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* The same for register_ftrace_direct(); of it only the ops and the function are used. */
extern struct ftrace_selftest ftrace_direct_selftest;

/* Trampolines of the architecture: they count calls, and return as the port's stub does. */
void ftrace_direct_tramp(void);
void ftrace_other_direct_tramp(void);
extern unsigned long ftrace_direct_calls;
extern unsigned long ftrace_other_direct_calls;
#endif

/** ftrace_selftest_func - the function of their ops */
void ftrace_selftest_func(FTRACE_PARAMETERS);

#endif
#endif
