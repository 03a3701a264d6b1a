/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_RATELIMIT_H
#define _COMPAT_LINUX_RATELIMIT_H

#include <linux/bug.h>

/* Nothing ever resets the limit. */
#define WARN_RATELIMIT(condition, ...)					\
	({								\
		static unsigned int __printed;				\
		bool __failed = (condition);				\
									\
		if (__failed && __printed < 10) {			\
			__printed++;					\
			printk(__VA_ARGS__);				\
		}							\
		__failed;						\
	})

#endif
