// SPDX-License-Identifier: MIT
/*
 * Stretches of a known number of instructions between two calls: two stretches differ by what
 * their numbers differ.
 */
#define traced __attribute__((noipa))
#define nops(count) __asm__ volatile(".rept " #count "\n\tnop\n\t.endr" : : : "memory")

traced void mark(void)
{
}

/* A long block: QEMU cuts it into several, and it crosses pages. */
traced void stretches(void)
{
	mark();
	nops(1);
	mark();
	nops(1001);
	mark();
	nops(12001);
	mark();
	mark();		/* so that the one before it is an ordinary call too */
}

int workload(void)
{
	stretches();
	stretches();
	return 0;
}
