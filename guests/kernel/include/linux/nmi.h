/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_NMI_H
#define _LINUX_NMI_H

/*
 * Interrupts that nothing masks: one may come in the middle of whatever masks interrupts, the
 * tracer included. They do not nest. Not every arch has them.
 */
#include <linux/compiler.h>
#include <linux/threads.h>
#include <linux/types.h>

struct pt_regs;

/** do_nmi - handle one; the arch's vectors call it, on the stack of the thread that was interrupted */
void do_nmi(struct pt_regs *regs);

/* Functions worth tracing: nothing but an NMI calls them. */
void nmi_work(void);

/* How many there have been, on all CPUs. */
extern u32 nmi_count;

/* Where a CPU was when the NMI came that it handles now, or 0. Besides a thread's interrupted_pc. */
extern unsigned long nmi_interrupted_pc[NR_CPUS];

/* What the latest one, on whichever CPU, has interrupted. */
extern unsigned long nmi_last_pc;

#ifdef CONFIG_FTRACE_NMI_ENTER
/* Given by the port: an NMI may have come in the middle of a change of the text. */
void ftrace_nmi_enter(void);
void ftrace_nmi_exit(void);
#else
static inline void ftrace_nmi_enter(void)
{
}

static inline void ftrace_nmi_exit(void)
{
}
#endif

/**
 * arch_nmi_arm - have an NMI interrupt this CPU once
 * @ns:	in how many nanoseconds, at least; not 0
 *
 * Return: false if the arch has none.
 */
bool arch_nmi_arm(u64 ns);

/** arch_nmi_disarm - the one that was asked for is not wanted any more */
void arch_nmi_disarm(void);

#endif
