/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_ERRNO_H
#define _COMPAT_LINUX_ERRNO_H

#include_next <linux/errno.h>

#ifndef EPERM
#define EPERM	1
#endif

#endif
