/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_BUG_H
#define _COMPAT_LINUX_BUG_H

#include_next <linux/bug.h>

#include <linux/printk.h>

#ifndef WARN_ON
#define WARN_ON(condition)						\
	({								\
		bool __failed = (condition);				\
									\
		if (__failed)						\
			printk("warning: %s:%d\n", __FILE__, __LINE__);	\
		__failed;						\
	})
#endif

#define WARN_ON_ONCE(condition)						\
	({								\
		static bool __warned;					\
		bool __failed = (condition);				\
									\
		if (__failed && !__warned) {				\
			__warned = true;				\
			printk("warning: %s:%d\n", __FILE__, __LINE__);	\
		}							\
		__failed;						\
	})

#endif
