/* SPDX-License-Identifier: MIT */
/* There is nothing in it that a port needs. */
#ifndef _COMPAT_LINUX_SWAB_H
#define _COMPAT_LINUX_SWAB_H

#include <linux/init.h>

#endif
