// SPDX-License-Identifier: MIT
/*
 * Two threads for each CPU that work until a test sets `finish`, and count the calls of what is
 * traced. 0 if all of them came to the right results.
 */
#include <linux/compiler.h>
#include <linux/thread.h>

#define traced		noinline
#define WORKERS		(2 * NR_CPUS)
#define WORDS		512

volatile int finish;
unsigned long soak_calls[WORKERS];	/* one thread writes one of them */

static unsigned int words[WORKERS][WORDS];

traced unsigned int soak_mix(unsigned int *word, unsigned int sum)
{
	int i;

	for (i = 0; i < WORDS; i++) {
		word[i] = word[i] * 1664525u + 1013904223u;
		sum = (sum << 5 | sum >> 27) ^ word[i];
	}
	return sum;
}

/* Two generators that take the same steps: the sums differ only if something is broken. */
traced int soak_block(unsigned int *word, unsigned int seed)
{
	unsigned int first, second;
	int i;

	for (i = 0; i < WORDS; i++)
		word[i] = seed + i;
	first = soak_mix(word, seed);
	for (i = 0; i < WORDS; i++)
		word[i] = seed + i;
	second = soak_mix(word, seed);
	return first == second;
}

static int worker(void *argument)
{
	unsigned int number = (unsigned long)argument, seed = number, wrong = 0;

	while (!finish) {
		wrong += !soak_block(words[number], seed++);
		soak_calls[number] += 3;
	}
	return wrong;
}

int workload(void)
{
	struct thread_info *thread[WORKERS];
	unsigned long i;
	int wrong = 0;

	for (i = 0; i < WORKERS; i++)
		thread[i] = kthread_run(worker, (void *)i, "worker");
	for (i = 0; i < WORKERS; i++)
		wrong += kthread_join(thread[i]);
	return wrong;
}
