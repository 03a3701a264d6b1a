/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MODULE_H
#define _COMPAT_LINUX_MODULE_H

#include <linux/init.h>

struct module;

/* What these guests load nobody asks about here. */
static inline struct module *__module_text_address(unsigned long address)
{
	return 0;
}

#define preempt_disable()	do { } while (0)
#define preempt_enable()	do { } while (0)

#endif
