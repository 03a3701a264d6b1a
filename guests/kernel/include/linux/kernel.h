/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_KERNEL_H
#define _LINUX_KERNEL_H

#include <linux/compiler.h>
#include <linux/types.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define ALIGN(x, size)		(((x) + (size) - 1) & ~((__typeof__(x))(size) - 1))

#endif
