// SPDX-License-Identifier: MIT
/*
 * A known number of function calls in a known order.
 *
 * A tracer sees these entries, and no others, between the entry of workload() and its return.
 * The list is the same for every optimisation level; "caller" is the function that the parent
 * address lies in.
 *
 *	 no.  function            caller
 *	----  ------------------  ----------------
 *	   1  workload            (the kernel)
 *	   2  leaf                workload
 *	   3  do_nested           workload
 *	   4  do_middle           do_nested
 *	   5  do_inner            do_middle
 *	   6  leaf                do_inner
 *	   7  leaf                do_nested
 *	   8  do_loop             workload
 *	   9  leaf                do_loop
 *	  10  leaf                do_loop
 *	  11  leaf                do_loop
 *	  12  do_recursion        workload
 *	  13  do_recursion        do_recursion
 *	  14  do_recursion        do_recursion
 *	  15  do_recursion        do_recursion
 *	  16  do_recursion        do_recursion
 *	  17  do_even             workload
 *	  18  do_odd              do_even
 *	  19  do_even             do_odd
 *	  20  do_odd              do_even
 *	  21  do_pointer          workload
 *	  22  pointer_add         do_pointer
 *	  23  pointer_multiply    do_pointer
 *	  24  do_tail             workload
 *	  25  tail_first          do_tail
 *	  26  tail_second         do_tail            tail_first without sibling calls (-O0, -O1)
 *	  27  do_many_arguments   workload
 *	  28  do_varargs          workload
 *	  29  do_struct           workload
 *	  30  do_small_struct     workload
 *	  31  do_long_long        workload
 *	  32  do_sum              workload
 *	  33  leaf                do_sum
 *	  34  leaf                do_sum
 *
 * Four entries pass arguments on the stack or return through a hidden pointer (27 to 30), which
 * a call site must not disturb; 31 needs two registers for its result where a word is 32 bits.
 */
#include <stdarg.h>
#include <stdint.h>

/* Always a function of its own, and every call to it stays: nothing is known about its body. */
#define traced __attribute__((noipa))

/* What is done with value is done after the call that gave it: no tail call, no loop instead. */
#define keep(value) __asm__ volatile("" : "+r"(value))

struct large {
	long words[6];
};

struct small {
	long first;
	long second;
};

traced int leaf(int value)
{
	return value + 1;
}

traced int do_inner(int value)
{
	int result = leaf(value);

	keep(result);
	return result * 2;
}

traced int do_middle(int value)
{
	int result = do_inner(value);

	keep(result);
	return result + 10;
}

traced int do_nested(int value)
{
	int result = do_middle(value);

	result += leaf(value);
	keep(result);
	return result;
}

traced int do_loop(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += leaf(i);
	keep(sum);
	return sum;
}

traced int do_recursion(int depth)
{
	int below;

	if (!depth)
		return 0;
	below = do_recursion(depth - 1);
	keep(below);
	return below + depth;
}

traced int do_odd(int number);

traced int do_even(int number)
{
	int result = 1;

	if (number)
		result = do_odd(number - 1);
	keep(result);
	return result;
}

traced int do_odd(int number)
{
	int result = 0;

	if (number)
		result = do_even(number - 1);
	keep(result);
	return result;
}

traced int pointer_add(int left, int right)
{
	return left + right;
}

traced int pointer_multiply(int left, int right)
{
	return left * right;
}

typedef int (*operation_t)(int left, int right);

static operation_t volatile operations[] = { pointer_add, pointer_multiply };

traced int do_pointer(int left, int right)
{
	int result = operations[0](left, right);

	result += operations[1](left, right);
	keep(result);
	return result;
}

traced int tail_second(int value)
{
	return value * 3;
}

traced int tail_first(int value)
{
	return tail_second(value + 1);
}

traced int do_tail(int value)
{
	int result = tail_first(value);

	keep(result);
	return result;
}

traced long do_many_arguments(long a, int b, long c, short d, long e, int f, long g, char h,
			      long i, int j, int64_t k, int l)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
	       (long)(11 * k) + 12 * l;
}

/* The arguments come in pairs: a long and an int64_t. */
traced long do_varargs(int pairs, ...)
{
	va_list arguments;
	long sum = 0;

	va_start(arguments, pairs);
	for (int i = 0; i < pairs; i++) {
		sum += va_arg(arguments, long);
		sum += (long)va_arg(arguments, int64_t);
	}
	va_end(arguments);
	return sum;
}

traced struct large do_struct(long first, struct large increments)
{
	struct large result;

	for (int i = 0; i < 6; i++)
		result.words[i] = first + i * increments.words[i];
	return result;
}

traced struct small do_small_struct(struct small pair)
{
	return (struct small){ pair.second, pair.first };
}

traced int64_t do_long_long(int64_t value, int shift)
{
	return value * 0x100000001 + ((int64_t)1 << shift);
}

traced int do_sum(int left, int right)
{
	int result = leaf(left);

	result += leaf(right);
	keep(result);
	return result;
}

/* Return: 0, or the number of the entry whose result is wrong. */
int workload(void)
{
	struct large increments = { { 1, 2, 3, 4, 5, 6 } }, large;
	struct small small;

	if (leaf(1) != 2)
		return 2;
	if (do_nested(3) != 22)
		return 3;
	if (do_loop(3) != 6)
		return 8;
	if (do_recursion(4) != 10)
		return 12;
	if (do_even(3) != 0)
		return 17;
	if (do_pointer(6, 7) != 55)
		return 21;
	if (do_tail(4) != 15)
		return 24;
	if (do_many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) != 650)
		return 27;
	if (do_varargs(3, 1L, (int64_t)2, 3L, (int64_t)4, 5L, (int64_t)6) != 21)
		return 28;
	large = do_struct(100, increments);
	for (int i = 0; i < 6; i++)
		if (large.words[i] != 100 + i * (i + 1))
			return 29;
	small = do_small_struct((struct small){ 1, 2 });
	if (small.first != 2 || small.second != 1)
		return 30;
	if (do_long_long(0x12345678, 40) != 0x1234577812345678)
		return 31;
	if (do_sum(20, 20) != 42)
		return 32;
	return 0;
}
