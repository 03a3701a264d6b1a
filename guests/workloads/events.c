// SPDX-License-Identifier: MIT
/*
 * More than a million function calls in a tight loop.
 *
 * A tracer sees 1,049,601 entries: workload once, do_round 1,024 times, and in every round
 * step_add, step_rotate, step_mix and step_toggle 256 times each, in turn. With a filter
 * for do_round there are only 1,024 events for the same work.
 *
 * The sum is compared with the same arithmetic without calls.
 */
#include <stdint.h>

#define ROUNDS 1024
#define TURNS 256 /* per round, of 4 calls each */

/* Always a function of its own, and every call to it stays. */
#define traced __attribute__((noipa))
#define inlined static inline __attribute__((always_inline))

inlined uint32_t add(uint32_t state)
{
	return state + 0x9e3779b9;
}

inlined uint32_t rotate(uint32_t state)
{
	return state << 7 | state >> 25;
}

inlined uint32_t mix(uint32_t state)
{
	return state ^ state >> 15;
}

inlined uint32_t toggle(uint32_t state)
{
	return ~state;
}

traced uint32_t step_add(uint32_t state)
{
	return add(state);
}

traced uint32_t step_rotate(uint32_t state)
{
	return rotate(state);
}

traced uint32_t step_mix(uint32_t state)
{
	return mix(state);
}

traced uint32_t step_toggle(uint32_t state)
{
	return toggle(state);
}

traced uint32_t do_round(uint32_t state)
{
	for (int turn = 0; turn < TURNS; turn++) {
		state = step_add(state);
		state = step_rotate(state);
		state = step_mix(state);
		state = step_toggle(state);
	}
	return state;
}

int workload(void)
{
	uint32_t state = 1, expected = 1;

	for (int round = 0; round < ROUNDS; round++)
		state = do_round(state);
	for (int turn = 0; turn < ROUNDS * TURNS; turn++)
		expected = toggle(mix(rotate(add(expected))));
	return state == expected ? 0 : 1;
}
