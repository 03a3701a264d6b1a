// SPDX-License-Identifier: MIT
/*
 * The irqsoff tracer: the longest section with interrupts disabled, and its functions.
 */
#include <linux/ftrace.h>
#include <linux/irqsoff.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "trace_event.h"

/* Written by a debugger while the kernel is stopped, hence volatile. */
#define control	(*(volatile struct irqsoff_control *)&irqsoff_control)

struct irqsoff_control irqsoff_control;

/* The current section of a CPU. */
static struct section {
	bool open;
	unsigned long start_ip;
	u64 start;
} sections[NR_CPUS];

static spinlock_t max_lock;

struct latency_entry {
	struct trace_entry entry;
	u64 latency;
	unsigned long start_ip;
	unsigned long end_ip;
} __packed __aligned(RB_ALIGNMENT);

/* With interrupts disabled. */
static void section_event(unsigned long ip, unsigned long parent_ip)
{
	struct trace_event_buffer buffer;
	struct ftrace_entry *entry = trace_event_reserve(&buffer, TRACE_FN, sizeof(*entry));

	if (!entry)
		return;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	trace_event_commit(&buffer, ip);
}

static void latency_event(const struct section *section, u64 latency, unsigned long end_ip)
{
	struct trace_event_buffer buffer;
	struct latency_entry *entry = trace_event_reserve(&buffer, TRACE_LATENCY, sizeof(*entry));

	if (!entry)
		return;
	entry->latency = latency;
	entry->start_ip = section->start_ip;
	entry->end_ip = end_ip;
	trace_event_commit(&buffer, end_ip);
}

void trace_hardirqs_off(unsigned long parent_ip)
{
	unsigned long ip = (unsigned long)__builtin_return_address(0);
	struct section *section = &sections[current->cpu];

	if (likely(!control.enabled) || section->open || in_nmi() ||
	    ring_buffer_this_cpu()->record_disabled)
		return;
	ring_buffer_restart(ring_buffer_this_cpu());
	section->start_ip = ip;
	section->start = sched_clock();
	section->open = true;
	section_event(ip, parent_ip);
}

void trace_hardirqs_on(unsigned long parent_ip)
{
	unsigned long ip = (unsigned long)__builtin_return_address(0);
	struct section *section = &sections[current->cpu];
	u64 latency;

	if (likely(!control.enabled && !section->open) || in_nmi())
		return;
	if (section->open && control.enabled) {
		latency = sched_clock() - section->start;
		if (latency > control.max_latency) {
			raw_spin_lock(&max_lock);
			/* Unless another CPU has found a longer one. */
			if (latency > control.max_latency) {
				control.max_latency = latency;
				section_event(ip, parent_ip);
				trace_stack(ip, arch_local_save_flags());
				latency_event(section, latency, ip);
				ring_buffer_keep(&max_buffer, current->cpu);
			}
			raw_spin_unlock(&max_lock);
		}
	}
	section->open = false;
}

void irqsoff_tracer_call(FTRACE_PARAMETERS)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (sections[current->cpu].open && !current->ftrace_ignore &&
	    arch_irqs_disabled_flags(flags))
		section_event(ip, parent_ip);
	raw_local_irq_restore(flags);
}
