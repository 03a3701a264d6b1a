// SPDX-License-Identifier: MIT
/*
 * Hands over to the modules that have been loaded: three rounds, and in each one call of every
 * module's run function, whose results are added up. Without modules it does nothing.
 *
 * It returns 0 if there was nothing that changed from one round to the next.
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
