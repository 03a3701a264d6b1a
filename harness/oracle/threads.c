// SPDX-License-Identifier: MIT
/*
 * The current thread is derived from the function that switches threads: it stores to the structure
 * of the previous thread and loads from that of the next one.  CPUs may be concurrent host threads:
 * a CPU accesses only its own state and that of its thread, and the guest's locks keep a thread on
 * one CPU at a time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "thread.h"

struct thread *running[MAX_CPUS];
static struct thread *slots[MAX_SLOTS];	/* by the place of their structures in the guest */
static struct thread *found[MAX_THREADS];	/* without a table of structures: by their number */

/* What an execution of the function that switches threads has accessed so far. */
static struct {
	uint64_t lowest;	/* of its stores */
	bool loaded;
} switching[MAX_CPUS];

static void number_thread(struct thread *thread, uint64_t structure)
{
	uint64_t index = __atomic_fetch_add(&control->nr_threads, 1, __ATOMIC_RELAXED);

	if (index >= MAX_THREADS) {
		__atomic_fetch_add(&control->lost_frames, 1, __ATOMIC_RELAXED);
		index = MAX_THREADS - 1;
	}
	thread->index = index;
	control->threads[index] = structure;
}

static struct thread *new_thread(uint64_t structure)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread) {
		perror("oracle");
		abort();
	}
	number_thread(thread, structure);
	return thread;
}

/* The structure may have been used by another thread before. */
void thread_begins(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];

	(void)userdata;
	accessing[vcpu] = false;
	found[thread->index] = NULL;
	number_thread(thread, control->threads[thread->index]);
	found[thread->index] = thread;
	thread->pending.kind = FLOW_NONE;
	thread->exceptions = 0;
	thread->started_over = 0;
	thread->depth = 0;
	thread->nr_entered = 0;
	thread->nr_landings = 0;
}

static struct thread *find_thread(uint64_t structure)
{
	for (uint64_t i = 0; i < control->nr_threads && i < MAX_THREADS; i++)
		if (found[i] && control->threads[i] == structure)
			return found[i];
	return NULL;
}

void distant_switch_begins(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	switching[vcpu].lowest = UINT64_MAX;
	switching[vcpu].loaded = false;
}

/*
 * The structures of a Linux kernel lie anywhere: a switch stores to the previous thread's, then loads
 * from the next one's.  The first load is at the offset of the lowest store.
 */
void distant_switch_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *userdata)
{
	struct thread *thread = running[vcpu];

	(void)userdata;
	address &= control->address_mask;
	if (switching[vcpu].loaded)
		return;
	if (qemu_plugin_mem_is_store(info)) {
		if (address < switching[vcpu].lowest)
			switching[vcpu].lowest = address;
		return;
	}
	switching[vcpu].loaded = true;
	if (!control->threads[thread->index]) {
		control->threads[thread->index] = switching[vcpu].lowest;
		found[thread->index] = thread;
	}
	thread = find_thread(address);
	if (!thread) {
		thread = new_thread(address);
		found[thread->index] = thread;
	}
	running[vcpu] = thread;
}

/*
 * __switch_to() stores to the previous thread, which identifies it if unknown, and loads from the
 * next one.
 */
void switch_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata)
{
	uint64_t offset = (address & control->address_mask) - control->thread_table;
	uint64_t slot = offset / control->thread_size;
	uint64_t structure = control->thread_table + slot * control->thread_size;

	(void)userdata;
	if (offset >= control->nr_slots * control->thread_size)
		return;
	if (qemu_plugin_mem_is_store(info)) {
		if (!slots[slot] && !control->threads[running[vcpu]->index]) {
			control->threads[running[vcpu]->index] = structure;
			slots[slot] = running[vcpu];
		}
		return;
	}
	if (!slots[slot])
		slots[slot] = new_thread(structure);
	running[vcpu] = slots[slot];
}

void flow_init(int nr_cpus)
{
	for (int i = 0; i < nr_cpus; i++)
		running[i] = new_thread(0);
}
