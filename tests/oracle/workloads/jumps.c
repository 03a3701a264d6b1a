// SPDX-License-Identifier: MIT
/*
 * longjmp() out of functions whose returns a tracer waits for: over one frame and over many, past
 * another setjmp(), again and again from one place, and in the middle of calls that do return.
 * No function calls itself from where it could be called again: each return address is one frame's.
 */
#include <setjmp.h>

#define traced __attribute__((noipa))
#define keep(value) __asm__ volatile("" : "+r"(value))

static jmp_buf outer, inner;

traced int leaf(int value)
{
	return value + 1;
}

traced void throw_outer(int value)
{
	longjmp(outer, value);
}

traced void throw_inner(int value)
{
	longjmp(inner, value);
}

traced int third(int value)
{
	value = leaf(value);
	if (value & 1)
		throw_outer(value);
	else
		throw_inner(value);
	return leaf(value);
}

traced int second(int value)
{
	value = third(value) + 1;
	keep(value);
	return value;
}

/* Catches every other jump; the rest goes over its head. */
traced int catch_inner(int value)
{
	int caught = setjmp(inner);

	if (!caught)
		caught = second(value);
	else
		caught = leaf(caught);
	keep(caught);
	return caught;
}

traced int first(int value)
{
	value = leaf(value);
	value = catch_inner(value) + 1;
	keep(value);
	return value;
}

/* The jump may also be the last thing before the return: nothing is called in between. */
traced int catch_outer(int value)
{
	int caught = setjmp(outer);

	if (!caught)
		caught = first(value);
	else if (value & 2)
		caught = leaf(caught);
	keep(caught);
	return caught;
}

traced int turn(int value)
{
	value = catch_outer(value);
	keep(value);
	return leaf(value);
}

int workload(void)
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum += turn(i);
	keep(sum);
	return sum == 0;
}
