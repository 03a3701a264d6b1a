/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_ALIGN_H
#define _COMPAT_LINUX_ALIGN_H

#define ALIGN_DOWN(value, size)	((value) & ~((__typeof__(value))(size) - 1))
#define IS_ALIGNED(value, size)	(((value) & ((__typeof__(value))(size) - 1)) == 0)

#endif
