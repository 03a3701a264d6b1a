/* SPDX-License-Identifier: MIT */

/* No include guard: the C standard lets NDEBUG change between two inclusions. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
	((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif

#ifndef _ASSERT_H
#define _ASSERT_H
#define static_assert _Static_assert

void __assert_fail(const char *condition, const char *file, unsigned int line,
		   const char *function) __attribute__((noreturn, cold));
#endif
