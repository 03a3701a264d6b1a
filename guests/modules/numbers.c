// SPDX-License-Identifier: MIT
/*
 * A module whose functions have all kinds of arguments and results that a call site must preserve:
 * floating point, wide integers, structures, more arguments than there are registers, a variable
 * number of them.
 *
 * run_modules() calls numbers_run(), which calls each function once and returns the number of right
 * results. Functions that NO_FLOATING_POINT leaves out count as right.
 */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <linux/module.h>

#define traced __attribute__((noipa))

#ifdef NO_FLOATING_POINT
#define FLOATING_POINT 0
#else
#define FLOATING_POINT 1

/* The bytes of a long double that have a value: one of 80 bits is stored with padding behind it. */
#define LONG_DOUBLE_SIZE (__LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double))

struct pair {
	double left;
	double right;
};
#endif

struct large {
	long words[6];
};

#if FLOATING_POINT
traced double num_double(double left, float right)
{
	return left * 2 + right;
}

traced float num_float(float value, int added)
{
	return value + added;
}

traced struct pair num_pair(double left, double right)
{
	return (struct pair){ right, left };
}

/* Without arithmetic, for which not every ABI has instructions. */
traced long double num_long_double(int unused, long double value)
{
	return value;
}

traced long floating_point(void)
{
	struct pair pair = num_pair(1.5, 2.5);
	static const long double expected = 1.25l;
	long double widest = num_long_double(0, 1.25l);
	long right = 0;

	right += num_double(1.25, 0.5f) == 3.0;
	right += num_float(0.75f, 2) == 2.75f;
	right += pair.left == 2.5 && pair.right == 1.5;
	right += !memcmp(&widest, &expected, LONG_DOUBLE_SIZE);
	return right;
}
#endif

traced struct large num_large(long first)
{
	struct large large;
	int i;

	for (i = 0; i < 6; i++)
		large.words[i] = first + i;
	return large;
}

traced int64_t num_wide(int64_t left, int64_t right)
{
	return left - right;
}

traced long num_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

traced long num_variable(int count, ...)
{
	va_list arguments;
	long sum = 0;

	va_start(arguments, count);
	while (count--)
		sum = sum * 10 + va_arg(arguments, long);
	va_end(arguments);
	return sum;
}

traced long numbers_run(long argument)
{
	struct large large = num_large(argument);
	long right = 4;

#if FLOATING_POINT
	right = floating_point();
#endif
	right += large.words[0] == argument && large.words[5] == argument + 5;
	right += num_wide(0x100000000, 1) == 0xffffffff;
	right += num_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 385;
	right += num_variable(9, 1l, 2l, 3l, 4l, 5l, 6l, 7l, 8l, 9l) == 123456789;
	return right;
}
module_run(numbers_run);
