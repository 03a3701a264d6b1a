/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_TRACE_FILTER_H
#define _LINUX_TRACE_FILTER_H

/*
 * Filters of events, compiled by the debugger. While there is any, every thread has EVENT_FILTERS
 * in its event_ignore, so that without filters no event looks for them.
 */
#include <linux/types.h>

#define TRACE_MAX_FILTERS	128
#define TRACE_MAX_PREDICATES	512
#define TRACE_FILTER_TEXTS	8192

/* What is compared. */
#define FILTER_UNSIGNED		1	/* a number at @offset, of @size bytes */
#define FILTER_SIGNED		2
#define FILTER_STRING		3	/* a text at @offset, of at most @size bytes */
#define FILTER_COMM		4	/* the name of the current thread */
#define FILTER_CPU		5	/* the number of the CPU */

#define FILTER_EQ		1
#define FILTER_NE		2
#define FILTER_LT		3
#define FILTER_LE		4
#define FILTER_GT		5
#define FILTER_GE		6
#define FILTER_BAND		7	/* any common bit */
#define FILTER_GLOB		8

#define FILTER_ACCEPT		0xfffffffeu
#define FILTER_REJECT		0xffffffffu

/**
 * struct trace_predicate - one comparison
 * @kind:	FILTER_UNSIGNED to FILTER_CPU
 * @operation:	FILTER_EQ to FILTER_GLOB
 * @offset:	of the field in the event
 * @size:	of the field
 * @on_true:	the next predicate of the filter, behind this one, or what is done with the event
 * @on_false:	likewise
 * @value:	a number, as wide as the field; or where a text begins in @texts
 */
struct trace_predicate {
	u32 kind;
	u32 operation;
	u32 offset;
	u32 size;
	u32 on_true;
	u32 on_false;
	u64 value;
};

/**
 * struct trace_event_filter - the filter of one event
 * @type:	TRACE_*
 * @first:	its first predicate
 * @count:	how many they are
 * @text:	where its text begins in @texts, for the debugger
 */
struct trace_event_filter {
	u32 type;
	u32 first;
	u32 count;
	u32 text;
};

/**
 * struct trace_filter_control - the filters; written by the debugger
 * @nr_filters:	entries in @filters
 * @text_size:	bytes in @texts
 * @filters:	of any order
 * @predicates:	those of each filter are together
 * @texts:	each with a NUL
 */
struct trace_filter_control {
	u32 nr_filters;
	u32 text_size;
	struct trace_event_filter filters[TRACE_MAX_FILTERS];
	struct trace_predicate predicates[TRACE_MAX_PREDICATES];
	u8 texts[TRACE_FILTER_TEXTS];
};

extern struct trace_filter_control trace_filter_control;

#endif
