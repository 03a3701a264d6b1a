// SPDX-License-Identifier: MIT
/*
 * Control flow that is hard to follow from outside: tail calls, direct, through pointers and
 * through tables; recursion whose return addresses are all the same; frames that longjmp() leaves
 * behind, followed by tail calls whose caller lies below those frames.
 */
#include <setjmp.h>

#define traced __attribute__((noipa))
#define keep(value) __asm__ volatile("" : "+r"(value))

static jmp_buf outer_buf, inner_buf;

traced int leaf(int value)
{
	return value + 1;
}

/* A tail call through a register. */
static int (*volatile leaf_pointer)(int) = leaf;

traced int tail_pointer(int value)
{
	return leaf_pointer(value + 1);
}

/* Tail calls in a circle: one return address for all of them. */
traced int circle_ping(int left);

traced int circle_pong(int left)
{
	return left ? circle_ping(left - 1) : leaf(left);
}

traced int circle_ping(int left)
{
	return left ? circle_pong(left - 1) : tail_pointer(left);
}

/* A jump through a table, and tail calls out of it. */
traced int table(int selector)
{
	switch (selector) {
	case 0:
		return leaf(selector);
	case 1:
		return selector + 3;
	case 2:
		return tail_pointer(selector);
	case 3:
		selector = leaf(selector);
		keep(selector);
		return selector * 2;
	case 4:
		return circle_ping(selector);
	case 5:
		selector = table(2) + table(0);
		keep(selector);
		return selector;
	case 6:
		return selector * 7;
	default:
		return table(selector % 7);
	}
}

/* Twice the same call: the second one's return address is that of a frame which has returned. */
traced int tree(int depth)
{
	int sum = 0;

	if (depth == 0)
		return tail_pointer(depth);
	for (int i = 0; i < 2; i++)
		sum += tree(depth - 1);
	keep(sum);
	return sum;
}

traced int fall(int depth)
{
	int below;

	if (depth < 0)		/* Never; but without any way out gcc warns of endless recursion. */
		return 0;
	if (depth == 0)
		longjmp(depth & 1 ? inner_buf : outer_buf, 7);
	below = fall(depth - 1);
	keep(below);
	return below;
}

traced int catch_all(int depth)
{
	int caught = setjmp(outer_buf);

	if (!caught)
		caught = fall(depth);
	else
		caught += leaf(caught);
	keep(caught);
	return caught;
}

/* What catch_all() leaves behind lies above the frame that this tail call goes out from. */
traced int after_catch(int depth)
{
	int caught = catch_all(depth);

	keep(caught);
	return tail_pointer(caught);
}

/* The same handler again and again, at every depth of a recursion, always the innermost. */
traced int nested_catch(int depth)
{
	int caught;

	if (depth == 0)
		longjmp(inner_buf, 3);
	caught = setjmp(inner_buf);
	if (!caught)
		caught = nested_catch(depth - 1);
	else
		caught = tree(1);
	keep(caught);
	return caught;
}

traced int after_nested_catch(int depth)
{
	int caught = nested_catch(depth);

	keep(caught);
	return circle_pong(caught & 3);
}

traced int deep(int depth)
{
	int below;

	if (depth == 0)
		return leaf(depth);
	below = deep(depth - 1);
	keep(below);
	return below;
}

int workload(void)
{
	int sum = circle_ping(5) + circle_pong(6) + tree(4) + deep(300);

	for (int i = 0; i < 15; i++)
		sum += table(i);
	for (int i = 0; i < 4; i++)
		sum += after_catch(i) + after_nested_catch(i + 1);
	keep(sum);
	return 0;
}
