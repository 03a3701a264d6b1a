// SPDX-License-Identifier: MIT
#include <assert.h>
#include <stdlib.h>

#include "libc.h"

void abort(void)
{
	panic("abort() called from %p", __builtin_return_address(0));
}

void __assert_fail(const char *condition, const char *file, unsigned int line,
		   const char *function)
{
	panic("%s:%u: %s: assertion failed: %s", file, line, function, condition);
}
