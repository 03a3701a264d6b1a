/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_STACK_TRACER_H
#define _LINUX_STACK_TRACER_H

/*
 * The stack tracer: how deep the stack of a thread has been at the entry of a traced function, and
 * which functions were active then.
 */
#include <linux/types.h>

#define STACK_TRACE_ENTRIES	256
#define STACK_TRACE_MAX_FUNCS	256

/**
 * struct stack_trace_entry - an active function
 * @address:	where it continues
 * @depth:	bytes from its stack pointer to the end of the stack
 */
struct stack_trace_entry {
	unsigned long address;
	u32 depth;
};

/**
 * struct stack_trace_control - the deepest stack
 * @enabled:		not 0: look for it; written by the debugger
 * @max_size:		its depth; the debugger may write another value, to be exceeded
 * @newest:		0 or 1: which half of @entries has it
 * @nr_entries:		entries in each half
 * @nr_functions:	entries in @functions; 0: every function; written by the debugger
 * @functions:		sorted: look at the entry of these functions only
 * @entries:		the active functions, innermost first, twice: one half is being written
 */
struct stack_trace_control {
	u32 enabled;
	u32 max_size;
	u32 newest;
	u32 nr_entries[2];
	u32 nr_functions;
	unsigned long functions[STACK_TRACE_MAX_FUNCS];
	struct stack_trace_entry entries[2 * STACK_TRACE_ENTRIES];
};

extern struct stack_trace_control stack_trace_control;

/** stack_trace_call - compare the stack at the entry of a function with the deepest one */
void stack_trace_call(unsigned long ip);

#endif
