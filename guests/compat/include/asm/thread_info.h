/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_THREAD_INFO_H
#define _COMPAT_ASM_THREAD_INFO_H

/* There is nothing in it that a port needs. */
#include <linux/init.h>

#endif
