/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_ASM_EXPORT_H
#define _COMPAT_ASM_EXPORT_H

/* Modules are linked against every symbol. */
#define EXPORT_SYMBOL(name)

#endif
