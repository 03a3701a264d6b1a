/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_INIT_H
#define _COMPAT_LINUX_INIT_H

/* Nothing is freed after the start, and no data is kept apart. */
#define __init
#define __read_mostly
#define __maybe_unused	__attribute__((unused))

/* Kconfig's other name for "not 64 bits", which only Linux uses. */
#ifndef CONFIG_64BIT
#define CONFIG_32BIT	1
#endif

#endif
