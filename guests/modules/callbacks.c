// SPDX-License-Identifier: MIT
/*
 * A module whose functions call each other, the kernel, and are called by it.
 *
 * run_module() is called by run_modules(), through a pointer; a tracer then sees these entries of
 * the module's, in this order, for every optimisation level:
 *
 *	 no.  function            caller
 *	----  ------------------  ----------------
 *	   1  callbacks_run       run_modules		(kernel)
 *	   2  mod_leaf            callbacks_run
 *	   3  mod_nested          callbacks_run
 *	   4  mod_middle          mod_nested
 *	   5  mod_leaf            mod_middle
 *	   6  mod_recursion       callbacks_run
 *	   7  mod_recursion       mod_recursion
 *	   8  mod_recursion       mod_recursion
 *	   9  mod_sort            callbacks_run
 *	  10  mod_compare         qsort's		(kernel), as often as qsort needs it
 *	      mod_closure         callbacks_run
 *	      add.N               mod_apply, with a static chain: a function within mod_closure
 *	      mod_kernel_string   callbacks_run, which calls strlen and strtol (kernel)
 *	      mod_large_frame     callbacks_run, with a frame of more than 32 KiB
 *
 * With NO_NESTED_FUNCTIONS mod_apply calls mod_leaf instead of add.N, and with FRAME_WARN no frame
 * is larger than that.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>

#define traced __attribute__((noipa))
#define keep(value) __asm__ volatile("" : "+r"(value))

traced long mod_leaf(long value)
{
	return value + 1;
}

traced long mod_middle(long value)
{
	long result = mod_leaf(value);

	keep(result);
	return result * 2;
}

traced long mod_nested(long value)
{
	long result = mod_middle(value);

	keep(result);
	return result + 10;
}

traced long mod_recursion(long depth)
{
	long below;

	if (!depth)
		return 0;
	below = mod_recursion(depth - 1);
	keep(below);
	return below + depth;
}

traced int mod_compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

traced long mod_sort(void)
{
	int numbers[] = { 5, 1, 4, 2, 3 };
	long result = 0;
	unsigned int i;

	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), mod_compare);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		result = result * 10 + numbers[i];
	return result;
}

traced long mod_apply(long (*function)(long value), long value)
{
	long result = function(value);

	keep(result);
	return result;
}

traced long mod_closure(long term)
{
	/* clang has no nested functions. */
#if defined(__clang__) || defined(NO_NESTED_FUNCTIONS)
	long result = mod_apply(mod_leaf, 99 + term);
#else
	traced long add(long value)
	{
		return value + term;
	}
	long result = mod_apply(add, 100);
#endif

	keep(result);
	return result;
}

traced long mod_kernel_string(const char *text)
{
	return strlen(text) * 100 + strtol(text, NULL, 10);
}

#ifdef FRAME_WARN
#define LARGE_FRAME (FRAME_WARN / 2)
#else
#define LARGE_FRAME 40000
#endif

traced long mod_large_frame(long value)
{
	volatile char room[LARGE_FRAME];

	room[0] = 7;
	room[sizeof(room) - 1] = mod_leaf(value);
	return room[0] + room[sizeof(room) - 1];
}

traced long callbacks_run(long argument)
{
	static const char number[] = "-42";
	long result = 0;

	result += mod_leaf(argument) == argument + 1;
	result += mod_nested(argument) == 2 * (argument + 1) + 10;
	result += mod_recursion(2) == 3;
	result += mod_sort() == 12345;
	result += mod_closure(argument) == argument + 100;
	result += mod_kernel_string(number) == 258;
	result += mod_large_frame(4) == 12;
	/* How many of them were right. */
	return result;
}
module_run(callbacks_run);

traced int callbacks_init(void)
{
	printk("callbacks: loaded\n");
	return 0;
}
module_init(callbacks_init);

traced void callbacks_exit(void)
{
	printk("callbacks: unloaded\n");
}
module_exit(callbacks_exit);
