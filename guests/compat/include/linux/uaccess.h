/* SPDX-License-Identifier: MIT */
/* There is nothing in it that a port needs. */
#ifndef _COMPAT_LINUX_UACCESS_H
#define _COMPAT_LINUX_UACCESS_H

#include <linux/init.h>

#endif
