// SPDX-License-Identifier: MIT
/*
 * C17. An NMI that comes while the port changes a call site meets the old instruction or the new
 * one: a change is one aligned store of one word, and the architecture allows it under a CPU that
 * executes the word. So there is nothing to finish before the handler's functions run, and nothing
 * to make good after them.
 */
#include <linux/nmi.h>

#ifdef CONFIG_FTRACE_NMI_ENTER

void ftrace_nmi_enter(void)
{
}

void ftrace_nmi_exit(void)
{
}

#endif
