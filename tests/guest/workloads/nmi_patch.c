// SPDX-License-Identifier: MIT
/*
 * NMIs at every instruction of the port's ftrace_make_call() and ftrace_make_nop(), which patch the
 * call site of the very function that the NMI calls. Two rounds at each distance: one switches the
 * site on, the next one off.
 */
#include <linux/ftrace.h>
#include <linux/nmi.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>

#include <asm/processor.h>

#define ROUNDS		800
#define SITE_OFFSET	32	/* a call site is so near to the function's beginning */

/* For a debugger: what the NMI of each round hit, and how many events it made. */
unsigned long nmi_pcs[ROUNDS];
unsigned char nmi_events[ROUNDS];

static notrace struct dyn_ftrace *find_record(unsigned long function)
{
	unsigned long i;

	for (i = 0; i < ftrace_record_count; i++)
		if (ftrace_records[i].ip - function < SITE_OFFSET)
			return &ftrace_records[i];
	return NULL;
}

static notrace int one_round(struct dyn_ftrace *record, unsigned int round)
{
	unsigned long target = (unsigned long)ftrace_caller;
	u32 before = READ_ONCE(nmi_count), events = ring_buffer.cpu[0].entries;
	int error;

	if (!arch_nmi_arm(round / 2 + 1))
		return -1;
	error = round % 2 ? ftrace_make_nop(NULL, record, target) :
			    ftrace_make_call(record, target);
	while (READ_ONCE(nmi_count) == before)
		cpu_relax();
	nmi_pcs[round] = nmi_last_pc;
	nmi_events[round] = READ_ONCE(ring_buffer.cpu[0].entries) - events;
	return error;
}

int workload(void)
{
	struct dyn_ftrace *record = find_record((unsigned long)nmi_work);
	unsigned int round;

	if (!record)
		return 1;
	for (round = 0; round < ROUNDS; round++)
		if (one_round(record, round))
			return 2;
	return 0;
}
