/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_CFI_TYPES_H
#define _COMPAT_LINUX_CFI_TYPES_H

#include <linux/linkage.h>

/* Calls through pointers are not checked for their types. */
#define SYM_TYPED_FUNC_START(name)	SYM_FUNC_START(name)

#endif
