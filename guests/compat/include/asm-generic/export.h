/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_GENERIC_EXPORT_H
#define _COMPAT_ASM_GENERIC_EXPORT_H

#include <asm/export.h>

#endif
