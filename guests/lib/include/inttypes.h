/* SPDX-License-Identifier: MIT */
#ifndef _INTTYPES_H
#define _INTTYPES_H

#include <stdint.h>

#define __PRI32 ""
#if __SIZEOF_LONG__ == 8
#define __PRI64 "l"
#else
#define __PRI64 "ll"
#endif
#define __PRIPTR "l"

#define PRId32 __PRI32 "d"
#define PRIi32 __PRI32 "i"
#define PRIu32 __PRI32 "u"
#define PRIo32 __PRI32 "o"
#define PRIx32 __PRI32 "x"
#define PRIX32 __PRI32 "X"
#define PRId64 __PRI64 "d"
#define PRIi64 __PRI64 "i"
#define PRIu64 __PRI64 "u"
#define PRIo64 __PRI64 "o"
#define PRIx64 __PRI64 "x"
#define PRIX64 __PRI64 "X"
#define PRIdPTR __PRIPTR "d"
#define PRIuPTR __PRIPTR "u"
#define PRIxPTR __PRIPTR "x"

#endif
