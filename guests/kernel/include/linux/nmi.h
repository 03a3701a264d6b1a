/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_NMI_H
#define _LINUX_NMI_H

/*
 * Non-maskable interrupts, which may interrupt code with interrupts disabled, including the tracer.
 * They do not nest. Not every arch has them.
 */
#include <linux/compiler.h>
#include <linux/threads.h>
#include <linux/types.h>

struct pt_regs;

/** do_nmi - called by the arch's vectors, on the stack of the interrupted thread */
void do_nmi(struct pt_regs *regs);

/* Traced functions that only NMIs call. */
void nmi_work(void);

/* Number of NMIs on all CPUs. */
extern u32 nmi_count;

/* The pc interrupted by the current NMI of a CPU, or 0. Separate from a thread's interrupted_pc. */
extern unsigned long nmi_interrupted_pc[NR_CPUS];

/* The pc interrupted by the latest NMI of any CPU. */
extern unsigned long nmi_last_pc;

#ifdef CONFIG_FTRACE_NMI_ENTER
/* Provided by the port: an NMI may interrupt the patching of text. */
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
 * arch_nmi_arm - schedule one NMI on this CPU
 * @ns:	after at least this many nanoseconds; not 0
 *
 * Return: false if the arch has none.
 */
bool arch_nmi_arm(u64 ns);

/** arch_nmi_disarm - cancel it */
void arch_nmi_disarm(void);

#endif
