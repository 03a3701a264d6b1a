/* SPDX-License-Identifier: MIT */
/* What is known of each thread of the guest; threads.c finds out which one a CPU executes. */
#ifndef HARNESS_ORACLE_THREAD_H
#define HARNESS_ORACLE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "flow.h"

#define STACK_DEPTH	65536
#define EXCEPTION_DEPTH	16
#define MAX_LANDINGS	1024

/* An executed transfer of control whose target is not known yet. */
struct transfer {
	uint64_t pc;
	uint64_t behind;		/* the first address behind it and its delay slot */
	enum flow_kind kind;
};

/* One call; it counts sites because a tail call enters another function in the same frame. */
struct frame {
	uint64_t address;		/* where it returns to */
	size_t entries;			/* sites executed in it */
};

/* A call of setjmp(). */
struct landing {
	uint64_t word;			/* the address of its last store */
	size_t depth;			/* number of frames, with its own */
};

/* A thread, or what a CPU does before its first switch. */
struct thread {
	struct thread *next;		/* in the list of all threads */
	struct thread *kept;		/* as it was at the last REQUEST_KEEP; NULL if it was not there */
	uint32_t index;
	struct transfer pending;
	struct transfer interrupted[EXCEPTION_DEPTH];
	size_t exceptions;
	uint64_t started_over;		/* a call that is executed again, after an exception */
	size_t depth;
	struct frame stack[STACK_DEPTH];
	size_t nr_entered;
	uint64_t entered[STACK_DEPTH];	/* the sites of all frames, outermost first */
	uint64_t jump_word;		/* setjmp() has stored to, or longjmp() loaded from */
	size_t nr_landings;
	struct landing landings[MAX_LANDINGS];	/* the deepest last */
};

extern struct thread *running[MAX_CPUS];	/* by each CPU */

void do_request(void);

/* At the beginning of a block, before anything else. */
static inline void follow_request(void)
{
	if (__atomic_load_n(&control->request, __ATOMIC_ACQUIRE))
		do_request();
}

#endif
