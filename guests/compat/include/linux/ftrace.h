/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_FTRACE_H
#define _COMPAT_LINUX_FTRACE_H

/*
 * For ports that are written for Linux: our kernel's <linux/ftrace.h>, and what such sources use
 * beside it. The directory comes first on the path of a port's own files, and of no others.
 */
#include <linux/init.h>

#include <linux/compat.h>

#include_next <linux/ftrace.h>

#ifndef __ASSEMBLER__

#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/linkage.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm-generic/sections.h>

#define FTRACE_MAY_SLEEP	(1 << 5)
#define FTRACE_ADDR	((unsigned long)ftrace_caller)
#ifndef FTRACE_REGS_ADDR
#define FTRACE_REGS_ADDR	FTRACE_ADDR
#endif

#define pr_warn		printk
#define pr_err		printk

/* Our kernel is never paused; the compiler does not know that, as for Linux. */
static const volatile int __graph_pause __maybe_unused;

#define atomic_read(pointer)	__graph_pause

/* What a port sets when it cannot go on; every file has its own, but one of them does both. */
static bool __graph_is_dead __maybe_unused;

static inline bool ftrace_graph_is_dead(void)
{
	return __graph_is_dead;
}

static inline void ftrace_graph_stop(void)
{
	__graph_is_dead = true;
}

void ftrace_regs_call(void);

/* Never called: the debugger switches each site. */
void arch_ftrace_update_code(int command);

static inline void ftrace_modify_all_code(int command)
{
}

#endif
#endif
