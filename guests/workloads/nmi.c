// SPDX-License-Identifier: MIT
/*
 * NMIs at every instruction of a few traced calls: each round arms one a nanosecond later than the
 * round before, and under -icount an instruction takes a nanosecond. The traced calls must not
 * be affected; the trace shows the effect on the tracer.
 */
#include <linux/compiler.h>
#include <linux/nmi.h>
#include <linux/printk.h>

#include <asm/processor.h>

#define ROUNDS	1200

/* For a debugger: the pc interrupted in each round, and the number of wrong rounds. */
unsigned long nmi_pcs[ROUNDS];
unsigned int nmi_errors;

noinline int inner(int a, int b)
{
	return 3 * a + b;
}

noinline int outer(int a)
{
	return inner(a, 1) - inner(a, 2) + inner(a, a);
}

static notrace bool one_round(unsigned int round)
{
	u32 before = READ_ONCE(nmi_count);

	if (!arch_nmi_arm(round + 1))
		return false;
	if (outer(round) != 4 * (int)round - 1)
		nmi_errors++;
	while (READ_ONCE(nmi_count) == before)
		cpu_relax();
	nmi_pcs[round] = nmi_last_pc;
	return true;
}

int workload(void)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		if (!one_round(round)) {
			printk("nmi: this machine has none\n");
			return 0;
		}
	}
	printk("nmi: %u NMIs, %u errors\n", nmi_count, nmi_errors);
	return nmi_errors != 0;
}
