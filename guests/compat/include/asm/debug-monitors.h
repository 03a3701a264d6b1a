/* SPDX-License-Identifier: MIT */
/* There is nothing in it that a port needs. */
#ifndef _COMPAT_ASM_DEBUG_MONITORS_H
#define _COMPAT_ASM_DEBUG_MONITORS_H

#include <linux/init.h>

#endif
