/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_IRQSOFF_H
#define _LINUX_IRQSOFF_H

#include <linux/types.h>

/**
 * struct irqsoff_control - the irqsoff tracer; written by the debugger
 * @enabled:		not 0: it is on
 * @max_latency:	tracing_max_latency in ns: a longer section is saved, and sets it
 *
 * While enabled, a CPU's ring buffer has its current section, from the function that disables
 * interrupts to the one that enables them; max_buffer has the longest one. The debugger does not
 * read ring_buffer then, and has set RB_FL_OVERWRITE.
 */
struct irqsoff_control {
	u32 enabled;
	u64 max_latency;
};

extern struct irqsoff_control irqsoff_control;


#endif
