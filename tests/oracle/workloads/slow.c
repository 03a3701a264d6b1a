// SPDX-License-Identifier: MIT
/* One function that takes a few hundred microseconds and many that take next to nothing. */
#define traced __attribute__((noipa))

traced int quick(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

traced void slow(void)
{
	for (volatile int i = 0; i < 50000; i++)
		;
}

traced int outer(int turns)
{
	int sum = 0;

	for (int i = 0; i < turns; i++)
		sum += quick(i);
	slow();
	for (int i = 0; i < turns; i++)
		sum += quick(i);
	return sum;
}

int workload(void)
{
	return outer(10) != 90;
}
