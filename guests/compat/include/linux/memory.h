/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_MEMORY_H
#define _COMPAT_LINUX_MEMORY_H

/* There is nothing in it that a port needs. */
#include <linux/init.h>

#endif
