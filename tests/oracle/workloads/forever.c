// SPDX-License-Identifier: MIT
/* Calls without an end, for tests that stop the guest at moments that nobody chose. */
#define traced __attribute__((noipa))
#define keep(value) __asm__ volatile("" : "+r"(value))

traced unsigned int leaf(unsigned int value)
{
	return value * 2654435761u;
}

traced unsigned int tail(unsigned int value)
{
	return leaf(value + 1);
}

traced unsigned int nested(unsigned int value)
{
	value = leaf(value) ^ tail(value);
	keep(value);
	return value;
}

/* Each round does the same, so that a test can run on to where the next one begins. */
traced unsigned int round_begins(unsigned int value)
{
	for (int i = 0; i < 100; i++)
		value += nested(value) + tail(value) + leaf(value);
	keep(value);
	return value;
}

int workload(void)
{
	unsigned int value = 1;

	for (;;)
		value = round_begins(value);
	return 0;
}
