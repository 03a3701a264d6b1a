/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_KERNEL_H
#define _COMPAT_LINUX_KERNEL_H

#include_next <linux/kernel.h>

#include <linux/init.h>

/* Initialisation code is not freed: see linux/init.h. */
#define SYSTEM_FREEING_INITMEM	1
#define system_state		SYSTEM_FREEING_INITMEM

#endif
