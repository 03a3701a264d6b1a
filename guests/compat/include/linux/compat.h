/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_COMPAT_H
#define _COMPAT_LINUX_COMPAT_H

#include <linux/init.h>
#include <linux/types.h>

#include <string.h>

struct pt_regs;

/* There are no 32-bit programs in a 64-bit guest. */
static inline int is_compat_task(void)
{
	return 0;
}

#endif
