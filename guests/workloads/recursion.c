// SPDX-License-Identifier: MIT
/*
 * Tests of a tracer's stack of return addresses: calls deeper than the stack, longjmp() and tail
 * calls, frames of every size, and arguments and results that do not fit into registers. All of
 * them run at depths below and above 50, the size of Linux's stack.
 *
 * Each check has a known result. workload() returns the number of the first one that failed,
 * counted from 1 in the order of the table at the end, or 0. There are no static variables: any
 * number of threads may run this at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

/* Always a function of its own, and every call to it stays: nothing is known about its body. */
#define traced __attribute__((noipa))

/* What is done with value is done after the call that gave it: no tail call, no loop instead. */
#define keep(value) __asm__ volatile("" : "+r"(value))

static const int depths[] = { 1, 48, 49, 50, 51, 52, 99, 100, 101, 150 };
#define DEPTHS	(sizeof(depths) / sizeof(depths[0]))

traced int leaf(int value)
{
	return value + 1;
}

/* --- Deep, and back ------------------------------------------------------------------------ */

traced int sum_to(int n)
{
	int below;

	if (!n)
		return 0;
	below = sum_to(n - 1);
	keep(below);
	return below + n;
}

traced bool check_depth(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (sum_to(depths[i]) != depths[i] * (depths[i] + 1) / 2)
			return false;
	return true;
}

/* Up and down around the limit: most calls return to a caller that was not hijacked. */
traced int comb(int depth)
{
	int sum = 0;

	if (depth == 60)
		return 1;
	if (depth < 45)
		sum = comb(depth + 1);
	else
		for (int i = 0; i < (depth % 5 ? 1 : 2); i++)
			sum += comb(depth + 1) + leaf(i);
	keep(sum);
	return sum + 1;
}

/* The same without a call. */
static int comb_answer(void)
{
	int answer = 1;

	for (int depth = 59; depth >= 45; depth--)
		answer = (depth % 5 ? answer + 1 : 2 * answer + 3) + 1;
	return answer + 45;
}

traced bool check_comb(void)
{
	return comb(0) == comb_answer();
}

/* --- longjmp() past any number of frames ---------------------------------------------------- */

/* Hides from the compiler that it does not return. */
traced int jump(jmp_buf environment, int value)
{
	longjmp(environment, value);
}

traced int fall(jmp_buf environment, int depth)
{
	int below;

	if (!depth)
		return jump(environment, 7);
	below = fall(environment, depth - 1);
	keep(below);
	return below;
}

traced int catch_from(int depth)
{
	jmp_buf environment;
	int caught = setjmp(environment);

	if (!caught)
		caught = fall(environment, depth);
	keep(caught);
	return leaf(caught);
}

/* If a jump left entries on the stack, a few more jumps would fill it. */
traced bool check_longjmp(void)
{
	for (unsigned int i = 0; i < 3 * DEPTHS; i++)
		if (catch_from(depths[i % DEPTHS]) != 8 || sum_to(10) != 55)
			return false;
	return true;
}

/* A handler at every level, which jumps on to the one above. */
traced int relay(jmp_buf outer, int depth)
{
	jmp_buf environment;
	int caught;

	if (!depth)
		return jump(outer, 1);
	caught = setjmp(environment);
	if (!caught)
		return relay(environment, depth - 1);
	return jump(outer, leaf(caught));
}

traced int relay_all(int depth)
{
	jmp_buf environment;
	int caught = setjmp(environment);

	if (!caught)
		caught = relay(environment, depth);
	keep(caught);
	return caught;
}

traced bool check_relay(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (relay_all(depths[i]) != depths[i] + 1)
			return false;
	return true;
}

/* The jump begins above the limit and ends below it, and the reverse. */
traced int catch_below(int depth, int fall_by)
{
	int below = depth ? catch_below(depth - 1, fall_by) : catch_from(fall_by);

	keep(below);
	return below + 1;
}

traced bool check_catch_below(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (catch_below(depths[i], 20) != depths[i] + 9)
			return false;
	return true;
}

/* --- Tail calls ----------------------------------------------------------------------------- */

traced int pong(int left, int sum);

traced int ping(int left, int sum)
{
	return left ? pong(left - 1, sum + 1) : leaf(sum);
}

traced int pong(int left, int sum)
{
	return left ? ping(left - 1, sum + 2) : leaf(sum);
}

traced int last(int value)
{
	return ping(value, value);
}

traced int tail_below(int depth, int (*function)(int))
{
	int below;

	if (!depth)
		return function(6);
	below = tail_below(depth - 1, function);
	keep(below);
	return below + 1;
}

/* Without optimization every hop takes a frame, so there are not many. */
traced bool check_tail_calls(void)
{
	if (ping(200, 0) != 301 || pong(7, 0) != 12)
		return false;
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (tail_below(depths[i], last) != 6 + 9 + 1 + depths[i])
			return false;
	return true;
}

/* --- More arguments than registers ---------------------------------------------------------- */

traced double many(int depth, long a, double b, long long c, float d, char e, short f, double g,
		   long h, long long i, double j, int k, double l, unsigned char m)
{
	double below;

	if (!depth)
		return a + 2 * b + (int)c * 3 + 4 * (double)d + 5 * e + 6 * f + 7 * g + 8 * h +
		       (int)i * 9 + 10 * j + 11 * k + 12 * l + 13 * m;
	below = many(depth - 1, a, b, c, d, e, f, g, h, i, j, k, l, m);
	keep(depth);
	return below + depth;
}

traced bool check_many(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (many(depths[i], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) !=
		    819 + depths[i] * (depths[i] + 1) / 2)
			return false;
	return true;
}

traced double sum_list(int count, va_list *list)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += va_arg(*list, int) * va_arg(*list, double) + va_arg(*list, long);
	return sum;
}

traced double variable(int depth, int count, ...)
{
	va_list list;
	double sum;

	va_start(list, count);
	if (depth)
		sum = variable(depth - 1, 4, 1, 2.0, 3l, 4, 5.0, 6l, 7, 8.0, 9l, 10, 11.0, 12l);
	else
		sum = sum_list(count, &list);
	va_end(list);
	keep(depth);
	return sum + depth;
}

traced bool check_variable(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++)
		if (variable(depths[i], 0) != 218 + depths[i] * (depths[i] + 1) / 2)
			return false;
	return true;
}

/* --- Frames --------------------------------------------------------------------------------- */

traced int use_alloca(int depth, int size)
{
	volatile char *bytes = __builtin_alloca(size);
	int below;

	bytes[0] = depth & 63;
	bytes[size - 1] = 63 - (depth & 63);
	below = depth ? use_alloca(depth - 1, size) : leaf(size);
	keep(below);
	return below + bytes[0] + bytes[size - 1];
}

traced bool check_alloca(void)
{
	return use_alloca(100, 100) == 101 + 101 * 63 && use_alloca(60, 17) == 18 + 61 * 63 &&
	       use_alloca(1, 33000) == 33001 + 2 * 63 && use_alloca(0, 70001) == 70002 + 63;
}

/* These offsets from the stack pointer do not fit into an instruction. */
#define FRAME(bytes)								\
	traced int frame_##bytes(int value, int depth)				\
	{									\
		volatile unsigned char array[bytes];				\
		int below;							\
										\
		array[0] = value;						\
		array[bytes / 2] = value + 1;					\
		array[bytes - 1] = value + 2;					\
		below = depth ? sum_to(depth) : leaf(value);			\
		keep(below);							\
		return below + array[0] + array[bytes / 2] + array[bytes - 1];	\
	}									\
										\
	traced int leaf_frame_##bytes(int value)				\
	{									\
		volatile unsigned char array[bytes];				\
										\
		array[0] = value;						\
		array[bytes - 1] = value + 1;					\
		return array[0] + array[bytes - 1];				\
	}									\
										\
	traced bool check_frame_##bytes(void)					\
	{									\
		return frame_##bytes(10, 0) == 44 && leaf_frame_##bytes(10) == 21 && \
		       frame_##bytes(10, 60) == 1863;				\
	}

FRAME(32700)
FRAME(32760)
FRAME(32800)
FRAME(65500)
FRAME(65600)

/* --- Structures ------------------------------------------------------------------------------ */

struct large {
	int value[40];
};

traced struct large fill(int depth, struct large start)
{
	struct large result;

	if (!depth)
		return start;
	result = fill(depth - 1, start);
	result.value[depth % 40] += depth;
	return result;
}

traced bool check_large(void)
{
	struct large start = { { 0 } }, result;

	for (unsigned int i = 0; i < DEPTHS; i++) {
		int sum = 0;

		result = fill(depths[i], start);
		for (int j = 0; j < 40; j++)
			sum += result.value[j];
		if (sum != depths[i] * (depths[i] + 1) / 2)
			return false;
	}
	return true;
}

struct mixed {
	double first;
	int second;
};

traced struct mixed pair(int depth)
{
	struct mixed below;

	if (!depth)
		return (struct mixed) { 0.5, 1 };
	below = pair(depth - 1);
	below.first += depth;
	below.second -= depth;
	return below;
}

traced bool check_mixed(void)
{
	for (unsigned int i = 0; i < DEPTHS; i++) {
		struct mixed result = pair(depths[i]);
		int sum = depths[i] * (depths[i] + 1) / 2;

		if (result.first != sum + 0.5 || result.second != 1 - sum)
			return false;
	}
	return true;
}

static bool (*const checks[])(void) = {
	check_depth, check_comb, check_longjmp, check_relay, check_catch_below,
	check_tail_calls, check_many, check_variable, check_alloca,
	check_frame_32700, check_frame_32760, check_frame_32800, check_frame_65500,
	check_frame_65600, check_large, check_mixed,
};

int workload(void)
{
	for (unsigned int i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!checks[i]())
			return i + 1;
	return 0;
}
