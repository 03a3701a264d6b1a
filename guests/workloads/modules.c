// SPDX-License-Identifier: MIT
/*
 * Calls the run function of every loaded module, in three rounds, and adds up the results. Without
 * modules it does nothing.
 *
 * It returns 0 if all rounds have the same result.
 */
#include <linux/module.h>

#define ROUNDS 3

int workload(void)
{
	long first = run_modules(1);
	int round;

	for (round = 1; round < ROUNDS; round++)
		if (run_modules(1) != first)
			return 1;
	return 0;
}
