// SPDX-License-Identifier: MIT
/*
 * The current thread is derived from the function that switches threads: it stores to the structure
 * of the previous thread and loads from that of the next one.  CPUs may be concurrent host threads:
 * a CPU accesses only its own state and that of its thread, and the guest's locks keep a thread on
 * one CPU at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thread.h"

struct thread *running[MAX_CPUS];
static struct thread *slots[MAX_SLOTS];	/* by the place of their structures in the guest */
static struct thread *found[MAX_THREADS];	/* without a table of structures: by their number */

/* What an execution of the function that switches threads has accessed so far. */
static struct switching {
	uint64_t lowest;	/* of its stores */
	bool loaded;
} switching[MAX_CPUS];

static struct thread *all_threads;

/* What there is besides each thread's own, at the last REQUEST_KEEP. */
static struct {
	struct thread *running[MAX_CPUS];
	struct thread *slots[MAX_SLOTS];
	struct thread *found[MAX_THREADS];
	struct switching switching[MAX_CPUS];
	uint64_t nr_threads;
	uint64_t threads[MAX_THREADS];
} kept;

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

static struct thread *allocate_thread(void)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread) {
		perror("oracle");
		abort();
	}
	return thread;
}

static struct thread *new_thread(uint64_t structure)
{
	struct thread *thread = allocate_thread();

	number_thread(thread, structure);
	thread->next = __atomic_load_n(&all_threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all_threads, &thread->next, thread, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return thread;
}

/* The structure may have been used by another thread before. */
void thread_begins(unsigned int vcpu, void *userdata)
{
	struct thread *thread;

	(void)userdata;
	follow_request();
	thread = running[vcpu];
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

/* Only as much of the arrays as is in use. */
static void copy_thread(struct thread *to, const struct thread *from)
{
	to->index = from->index;
	to->pending = from->pending;
	memcpy(to->interrupted, from->interrupted, sizeof(to->interrupted));
	to->exceptions = from->exceptions;
	to->started_over = from->started_over;
	to->depth = from->depth;
	memcpy(to->stack, from->stack, from->depth * sizeof(*to->stack));
	to->nr_entered = from->nr_entered;
	memcpy(to->entered, from->entered, from->nr_entered * sizeof(*to->entered));
	to->jump_word = from->jump_word;
	to->nr_landings = from->nr_landings;
	memcpy(to->landings, from->landings, from->nr_landings * sizeof(*to->landings));
}

static void keep_threads(void)
{
	for (struct thread *thread = all_threads; thread; thread = thread->next) {
		if (!thread->kept)
			thread->kept = allocate_thread();
		copy_thread(thread->kept, thread);
	}
	memcpy(kept.running, running, sizeof(running));
	memcpy(kept.slots, slots, sizeof(slots));
	memcpy(kept.found, found, sizeof(found));
	memcpy(kept.switching, switching, sizeof(switching));
	kept.nr_threads = control->nr_threads;
	memcpy(kept.threads, control->threads, sizeof(kept.threads));
}

static void go_back(void)
{
	struct thread **link = &all_threads;

	while (*link) {
		struct thread *thread = *link;

		if (thread->kept) {
			copy_thread(thread, thread->kept);
			link = &thread->next;
		} else {
			*link = thread->next;
			free(thread);
		}
	}
	memcpy(running, kept.running, sizeof(running));
	memcpy(slots, kept.slots, sizeof(slots));
	memcpy(found, kept.found, sizeof(found));
	memcpy(switching, kept.switching, sizeof(switching));
	control->nr_threads = kept.nr_threads;
	memcpy(control->threads, kept.threads, sizeof(kept.threads));
}

/* All CPUs come here before they execute anything, and the first one does it. */
void do_request(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	switch (control->request) {
	case REQUEST_KEEP:
		keep_threads();
		break;
	case REQUEST_GO_BACK:
		go_back();
		break;
	}
	__atomic_store_n(&control->request, REQUEST_NONE, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&mutex);
}

void flow_init(int nr_cpus)
{
	for (int i = 0; i < nr_cpus; i++)
		running[i] = new_thread(0);
}
