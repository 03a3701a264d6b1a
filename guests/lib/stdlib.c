// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <stdlib.h>

/* Marsaglia, "Xorshift RNGs", 2003. The same numbers on every machine; never 0. */
static uint32_t random_state = 1;

int abs(int value)
{
	return value < 0 ? -value : value;
}

long labs(long value)
{
	return value < 0 ? -value : value;
}

long long llabs(long long value)
{
	return value < 0 ? -value : value;
}

void srand(unsigned int seed)
{
	random_state = seed ? seed : 1;
}

int rand(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return (int)(random_state & RAND_MAX);
}
