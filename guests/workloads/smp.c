// SPDX-License-Identifier: MIT
/*
 * Work with known results on all CPUs at once; on one CPU in turn. Returns 0, or the number of the
 * part that failed.
 */
#include <linux/compiler.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/thread.h>

#include <stdlib.h>
#include <string.h>

#define WORKERS		(2 * NR_CPUS)
#define ROUNDS		200

static int run_all(int (*function)(void *), const char *name)
{
	struct thread_info *thread[WORKERS];
	int i, sum = 0;

	for (i = 0; i < WORKERS; i++)
		thread[i] = kthread_run(function, (void *)(long)i, name);
	for (i = 0; i < WORKERS; i++)
		sum += kthread_join(thread[i]);
	return sum;
}

/* --- 1: a thread bound to a CPU runs there --- */

static int bound_thread(void *argument)
{
	int i, right = 0;

	for (i = 0; i < 10; i++) {
		right += smp_processor_id() == (unsigned int)(long)argument;
		thread_yield();
	}
	return right == 10;
}

static noinline int on_every_cpu(void)
{
	struct thread_info *thread[NR_CPUS];
	unsigned int cpu, right = 0;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		thread[cpu] = kthread_run_on(cpu, bound_thread, (void *)(long)cpu, "bound");
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		right += kthread_join(thread[cpu]);
	return right == NR_CPUS;
}

/* --- 2: one thread for each CPU, all of them running at the same time --- */

static u32 arrived;
static u32 cpus_seen;

static int meeting_thread(void *argument)
{
	__atomic_fetch_or(&cpus_seen, 1u << smp_processor_id(), __ATOMIC_RELAXED);
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < NR_CPUS)
		cpu_relax();
	return 1;
}

static noinline int meeting(void)
{
	struct thread_info *thread[NR_CPUS];
	unsigned int cpu, right = 0;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		thread[cpu] = kthread_run_on(cpu, meeting_thread, NULL, "meeting");
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		right += kthread_join(thread[cpu]);
	return right == NR_CPUS && cpus_seen == (1u << NR_CPUS) - 1;
}

/* --- 3: counters: atomic, under a spin lock, under a spin lock with interrupts masked --- */

static spinlock_t lock;
static u32 atomic_counter;
static volatile u32 locked_counter, masked_counter;

static noinline void count_once(void)
{
	unsigned long flags;

	__atomic_fetch_add(&atomic_counter, 1, __ATOMIC_RELAXED);
	spin_lock(&lock);
	locked_counter++;
	spin_unlock(&lock);
	spin_lock_irqsave(&lock, flags);
	masked_counter++;
	spin_unlock_irqrestore(&lock, flags);
}

static int count_thread(void *argument)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		count_once();
	return 1;
}

static noinline int counters(void)
{
	const u32 expected = WORKERS * ROUNDS;

	return run_all(count_thread, "count") == WORKERS && atomic_counter == expected &&
	       locked_counter == expected && masked_counter == expected;
}

/* --- 4: a table of primes, computed in parts by all CPUs --- */

#define LIMIT	2000
#define PRIMES	303			/* below LIMIT */

static u8 composite[LIMIT];

static noinline int is_prime(int n)
{
	int divisor;

	for (divisor = 2; divisor * divisor <= n; divisor++)
		if (n % divisor == 0)
			return 0;
	return n > 1;
}

static int primes_thread(void *argument)
{
	int n, found = 0;

	for (n = (long)argument; n < LIMIT; n += WORKERS) {
		composite[n] = !is_prime(n);
		found += !composite[n];
	}
	return found;
}

static noinline int primes(void)
{
	int n, found = 0;

	if (run_all(primes_thread, "primes") != PRIMES)
		return 0;
	for (n = 0; n < LIMIT; n++)
		found += !composite[n];
	return found == PRIMES;
}

/* --- 5: all CPUs allocate from one heap --- */

static int heap_thread(void *argument)
{
	int i, right = 0;

	for (i = 0; i < ROUNDS; i++) {
		size_t size = 16 + (i * 37 + (long)argument * 11) % 300;
		char *area = malloc(size);

		memset(area, (long)argument, size);
		thread_yield();
		right += area[0] == (long)argument && area[size - 1] == (long)argument;
		free(area);
	}
	return right == ROUNDS;
}

static noinline int heap(void)
{
	return run_all(heap_thread, "heap") == WORKERS;
}

int workload(void)
{
	if (!on_every_cpu())
		return 1;
	if (!meeting())
		return 2;
	if (!counters())
		return 3;
	if (!primes())
		return 4;
	if (!heap())
		return 5;
	return 0;
}
