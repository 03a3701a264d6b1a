// SPDX-License-Identifier: MIT
/*
 * Interacting threads: they are preempted during calculations, wait, sleep and end, with known
 * results. Returns 0, or the number of the part that failed.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/thread.h>

#define WORKERS	6

/* --- 1: argument, name and exit status of a thread --- */

static noinline int sum_to(int n)
{
	return n ? n + sum_to(n - 1) : 0;
}

static int sum_thread(void *argument)
{
	int n = *(int *)argument;

	if (strcmp(current->comm, "sum"))
		return -1;
	return sum_to(n);
}

static noinline int results(void)
{
	struct thread_info *thread[WORKERS];
	int argument[WORKERS], i, right = 0;

	for (i = 0; i < WORKERS; i++) {
		argument[i] = 5 * i;
		thread[i] = kthread_run(sum_thread, &argument[i], "sum");
	}
	for (i = 0; i < WORKERS; i++)
		right += kthread_join(thread[i]) == 5 * i * (5 * i + 1) / 2;
	return right == WORKERS;
}

/* --- 2: two threads that run alternately --- */

#define ROUNDS	6

static volatile int turn;

/* A value in a floating-point register for every turn of the other thread. */
static noinline double spin_for(int my_turn, double value, double step)
{
	while (turn != my_turn)
		barrier();
	return value + step;
}

static noinline int play(int me, double step)
{
	double value = 0;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		value = spin_for(2 * round + me, value, step);
		turn = 2 * round + me + 1;
	}
	return value == ROUNDS * step;
}

static int second_player(void *argument)
{
	return play(1, 0.125);
}

static noinline int preemption(void)
{
	struct thread_info *thread;
	int right;

	turn = 0;
	thread = kthread_run(second_player, NULL, "second");
	right = play(0, 3.5);
	return right + kthread_join(thread) == 2;
}

/* --- 3: floating point, with all of its registers in use whenever a tick comes --- */

static noinline double polynomial(const double *c, double x)
{
	double a = c[0] * x, b = c[1] * x, d = c[2] * x, e = c[3] * x, f = c[4] * x, g = c[5] * x;
	double h = c[6] * x, i = c[7] * x, sum = 0;
	int n;

	for (n = 1; n <= 400; n++) {
		a += b * 0.5;
		b -= d * 0.25;
		d += e * 0.125;
		e -= f * 0.5;
		f += g * 0.25;
		g -= h * 0.125;
		h += i * 0.5;
		i -= a * 0.0625;
		sum += (a + b + d + e) * 0x1p-9 - (f + g + h + i) * 0x1p-11;
		if (sum > 1e6 || sum < -1e6)
			a = b = d = e = sum = c[n & 7];
	}
	return sum;
}

static double polynomial_of(int worker)
{
	double c[8];
	int i;

	for (i = 0; i < 8; i++)
		c[i] = 1.0 / (1 + i + worker);
	return polynomial(c, 1.0 + worker / 16.0);
}

static double expected[WORKERS];

static int polynomial_thread(void *argument)
{
	int worker = *(int *)argument, i, right = 0;

	for (i = 0; i < 200; i++)
		right += polynomial_of(worker) == expected[worker];
	return right == 200;
}

static noinline int floating_point(void)
{
	struct thread_info *thread[WORKERS];
	int argument[WORKERS], i, right = 0;

	for (i = 0; i < WORKERS; i++)
		expected[i] = polynomial_of(i);
	for (i = 0; i < WORKERS; i++) {
		argument[i] = i;
		thread[i] = kthread_run(polynomial_thread, &argument[i], "polynomial");
	}
	for (i = 0; i < WORKERS; i++)
		right += kthread_join(thread[i]);
	return right == WORKERS;
}

/* --- 4: a counter protected by the mutex --- */

#define INCREMENTS	50

static struct mutex mutex;
static volatile int counter;

static noinline void increment(void)
{
	int old;

	mutex_lock(&mutex);
	old = counter;
	thread_yield();
	counter = old + 1;
	mutex_unlock(&mutex);
}

static int increment_thread(void *argument)
{
	int i;

	for (i = 0; i < INCREMENTS; i++)
		increment();
	return 1;
}

static noinline int mutual_exclusion(void)
{
	struct thread_info *thread[WORKERS];
	int i, ended = 0;

	counter = 0;
	for (i = 0; i < WORKERS; i++)
		thread[i] = kthread_run(increment_thread, NULL, "increment");
	for (i = 0; i < WORKERS; i++)
		ended += kthread_join(thread[i]);
	return ended == WORKERS && counter == WORKERS * INCREMENTS;
}

/* --- 5: a chain of threads, each waiting for the one before; then sleep --- */

static struct completion links[WORKERS + 1];

static int link_thread(void *argument)
{
	int i = *(int *)argument;

	wait_for_completion(&links[i]);
	counter = 3 * counter + i;
	complete(&links[i + 1]);
	return 1;
}

static noinline int chain(void)
{
	struct thread_info *thread[WORKERS];
	int argument[WORKERS], i, expected = 1, ended = 0;

	counter = 1;
	for (i = WORKERS - 1; i >= 0; i--) {
		argument[i] = i;
		thread[i] = kthread_run(link_thread, &argument[i], "link");
	}
	complete(&links[0]);
	wait_for_completion(&links[WORKERS]);
	for (i = 0; i < WORKERS; i++) {
		expected = 3 * expected + i;
		ended += kthread_join(thread[i]);
	}
	return ended == WORKERS && counter == expected;
}

/* No thread wakes too early, whatever else runs. */
static int sleeper(void *argument)
{
	u64 end = local_clock() + *(int *)argument * 1000000ull;

	msleep(*(int *)argument);
	return local_clock() >= end;
}

static noinline int sleep(void)
{
	int argument[] = { 23, 13, 3, 0 };
	struct thread_info *thread[ARRAY_SIZE(argument)];
	unsigned int i, right = 0;

	for (i = 0; i < ARRAY_SIZE(argument); i++)
		thread[i] = kthread_run(sleeper, &argument[i], "sleeper");
	for (i = 0; i < ARRAY_SIZE(argument); i++)
		right += kthread_join(thread[i]);
	return right == ARRAY_SIZE(argument);
}

int workload(void)
{
	if (!results())
		return 1;
	if (!preemption())
		return 2;
	if (!floating_point())
		return 3;
	if (!mutual_exclusion())
		return 4;
	if (!chain())
		return 5;
	if (!sleep())
		return 6;
	return 0;
}
