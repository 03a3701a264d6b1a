/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_EXPORT_H
#define _COMPAT_LINUX_EXPORT_H

#include <asm/export.h>

#endif
