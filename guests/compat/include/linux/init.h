/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_INIT_H
#define _COMPAT_LINUX_INIT_H

/* No memory is freed after initialisation, and there are no separate sections. */
#define __init
#define __ref
#define __INIT		.text
#define __read_mostly
#define __maybe_unused	__attribute__((unused))

/* Whether a word of Kconfig is defined as 1: the placeholder makes room for a second argument. */
#define __PLACEHOLDER_1		0,
#define __SECOND(one, two, ...)	two
#define __IS_ENABLED_3(junk)	__SECOND(junk 1, 0)
#define __IS_ENABLED_2(value)	__IS_ENABLED_3(__PLACEHOLDER_##value)
#define __IS_ENABLED_1(value)	__IS_ENABLED_2(value)
#define IS_ENABLED(word)	__IS_ENABLED_1(word)

/* Kconfig's other name for "not 64 bits", which only Linux uses. */
#ifndef CONFIG_64BIT
#define CONFIG_32BIT	1
#endif

#endif
