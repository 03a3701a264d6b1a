// SPDX-License-Identifier: MIT
/*
 * C17. An NMI while the port changes a call site executes the old instruction or the new one, as a
 * change is one aligned store of one word. So nothing must be done before or after the handler.
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
