/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FUNCTION_PROFILE_H
#define _LINUX_FUNCTION_PROFILE_H

/*
 * The function profiler (function_profile_enabled): how often each function was called on each CPU,
 * and how long that took. The debugger clears the tables, and reads them.
 */
#include <linux/ftrace.h>
#include <linux/threads.h>
#include <linux/types.h>

#define FUNCTION_PROFILE_SLOTS	1024	/* a power of two */

/**
 * struct function_profile - the calls of one function on one CPU
 * @ip:			its call site; 0: not in use
 * @counter:		calls
 * @time:		ns from entry to return, of calls that returned on this CPU
 * @time_squared:	sum of the squares of these times
 */
struct function_profile {
	unsigned long ip;
	unsigned long counter;
	u64 time;
	u64 time_squared;
};

/* A hash table for each CPU. */
extern struct function_profile function_profiles[NR_CPUS][FUNCTION_PROFILE_SLOTS];

/* Calls of functions that found no slot. */
extern u32 function_profile_missed[NR_CPUS];

/** function_profile_count - count a call of the function with this call site */
void function_profile_count(unsigned long ip);

/** function_profile_call - the same as the tracer function of guests without the graph tracer */
void function_profile_call(FTRACE_PARAMETERS);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* The callbacks of the graph tracer: count a call and take its time. */
int profile_graph_entry(struct ftrace_graph_ent *trace);
void profile_graph_return(struct ftrace_graph_ret *trace);
#endif

#endif
