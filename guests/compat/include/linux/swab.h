/* SPDX-License-Identifier: MIT */
#ifndef _COMPAT_LINUX_SWAB_H
#define _COMPAT_LINUX_SWAB_H

#include <linux/types.h>

/* A number in memory as little endian machines have it. */
typedef u32 __le32;

static inline u32 le32_to_cpu(__le32 value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return value;
#else
	return __builtin_bswap32(value);
#endif
}

#endif
