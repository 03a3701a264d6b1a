// SPDX-License-Identifier: MIT
/*
 * sched_switch events of switches that never happen, so that filters have something of every kind
 * to compare, and the same in every run. The only thread is never switched.
 */
#include <stddef.h>
#include <string.h>

#include <linux/sched.h>
#include <linux/trace_events.h>

static const struct {
	const char *comm;
	s32 pid;
	u32 state;
} made[] = {
	{ "first", 1, 0 },
	{ "second", 2, 1 },
	{ "firs", 0x7fffffff, 32 },
	{ "a [b] c", -1, 0x21 },
	{ "fifteen letters", 3, 2 },
	{ "", 0, 64 },
};

#define COUNT	(sizeof(made) / sizeof(made[0]))

static struct thread_info threads_made[COUNT];

int workload(void)
{
	size_t prev, next, i;

	for (i = 0; i < COUNT; i++) {
		strcpy(threads_made[i].comm, made[i].comm);
		threads_made[i].pid = made[i].pid;
		threads_made[i].state = made[i].state;
	}
	for (prev = 0; prev < COUNT; prev++) {
		for (next = 0; next < COUNT; next++)
			trace_sched_switch(false, &threads_made[prev], &threads_made[next]);
		trace_printk("turn %zu\n", prev);
	}
	return 0;
}
