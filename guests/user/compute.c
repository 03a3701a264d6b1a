// SPDX-License-Identifier: MIT
/* Programs that run for several ticks in user mode, each with its own exit status. */
#include "user.h"

static double series(double step)
{
	double sum = 0, term = 1;
	int i;

	for (i = 0; i < 20000; i++) {
		term = term * 0.75 + step;
		sum += term;
		if (sum > 1e9)
			sum *= 0x1p-20;
	}
	return sum;
}

static int same(double step)
{
	double expected = series(step);
	int i;

	for (i = 0; i < 20; i++)
		if (series(step) != expected)
			return 0;
	return 1;
}

USER_PROGRAM(compute)
{
	return same(0.125) ? 7 : 0;
}

/* The same with occasional system calls. */
USER_PROGRAM(yielding)
{
	int i;

	for (i = 0; i < 50; i++) {
		if (series(1.0 / (i + 1)) != series(1.0 / (i + 1)))
			return 0;
		sched_yield();
	}
	return 8;
}
