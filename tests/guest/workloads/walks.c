// SPDX-License-Identifier: MIT
/*
 * Frames of all kinds for a walk to be begun at any instruction of. The test calls walk() in the
 * stopped guest, with what it has found in the registers in walk_regs.
 */
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include <asm/ptrace.h>

#define MAX_ENTRIES 64

struct pt_regs walk_regs;
unsigned long walk_entries[MAX_ENTRIES];
unsigned int walk_count;

struct large {
	long values[20];
};

static notrace bool take(void *cookie, unsigned long address)
{
	walk_entries[walk_count++] = address;
	return walk_count < MAX_ENTRIES;
}

notrace __used void walk(void)
{
	walk_count = 0;
	arch_stack_walk(take, NULL, current, &walk_regs);
}

static noinline long leaf(long x)
{
	return x + 1;
}

static noinline long calls_last(long x)
{
	return leaf(x + 2);
}

static noinline long several(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return leaf(a + b + c) + leaf(d + e + f) + leaf(g + h + i);
}

/* Two ways through it: one without a frame. */
static noinline long shrinks(long x)
{
	if (!x)
		return 7;
	return leaf(x) * 2;
}

static noinline long dynamic(long n)
{
	volatile char *bytes = __builtin_alloca(16 * n + 16);

	bytes[n] = 1;
	return leaf(n) + bytes[n];
}

static noinline long above_32k(long n)
{
	volatile char bytes[40000];

	bytes[n] = 1;
	return leaf(n) + bytes[n];
}

static noinline struct large returns_structure(long x)
{
	struct large large = { { 0 } };

	large.values[3] = leaf(x);
	return large;
}

static noinline long untraced_caller(long x);

static notrace noinline long untraced_caller(long x)
{
	return calls_last(x) - 1;
}

noinline long walks(void)
{
	return calls_last(1) + several(1, 2, 3, 4, 5, 6, 7, 8, 9) + shrinks(0) + shrinks(1) +
	       dynamic(3) + above_32k(5) + returns_structure(1).values[3] + untraced_caller(1);
}

int workload(void)
{
	walks();
	return 0;
}
