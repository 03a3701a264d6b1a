// SPDX-License-Identifier: MIT
/*
 * Calls whose answers are known, again and again until a test sets `finish`: arguments and results
 * in every kind of register, on the stack, and frames that hold on to values across calls. 0 if
 * every answer was right.
 */
#define traced __attribute__((noipa))
#define keep(value) __asm__ volatile("" : "+r"(value))

volatile int finish;
volatile unsigned int rounds;

traced unsigned int leaf(unsigned int value)
{
	return value * 2654435761u;
}

traced unsigned int many(unsigned int a, unsigned int b, unsigned int c, unsigned int d,
			 unsigned int e, unsigned int f, unsigned int g, unsigned int h,
			 unsigned int i, unsigned int j)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

traced double floating(double a, float b, double c)
{
	return a * 4 + b * 2 + c;
}

traced long long wide(long long a, long long b)
{
	return a ^ b << 7;
}

struct pair {
	unsigned long long first;
	unsigned long second;
};

traced struct pair structure(unsigned int a)
{
	struct pair pair = { .first = a + 0x100000000ull, .second = ~(unsigned long)a };

	return pair;
}

traced unsigned int tail(unsigned int value)
{
	return leaf(value + 1);
}

/* What it keeps, it keeps in registers that a call preserves. */
traced int round_begins(unsigned int n)
{
	unsigned int first = leaf(n), second = tail(n);
	struct pair pair = structure(n);
	double half = n + 0.5;
	int right = 0;

	right += many(n, 1, 2, 3, 4, 5, 6, 7, 8, first) == n + 240 + 10 * first;
	right += floating(half, 0.25f, n) == half * 4 + 0.5 + n;
	right += wide(n * 0x100000001ll, n) == (n * 0x100000001ll ^ (long long)n << 7);
	right += first == n * 2654435761u;
	right += second == (n + 1) * 2654435761u;
	right += pair.first == n + 0x100000000ull && pair.second == ~(unsigned long)n;
	keep(right);
	return right == 6;
}

int workload(void)
{
	unsigned int n, wrong = 0;

	for (n = 0; !finish; n++) {
		wrong += !round_begins(n & 0xffff);
		rounds = n;
	}
	return wrong;
}
