// SPDX-License-Identifier: MIT
/*
 * Not every version of QEMU's plugin interface can read registers (see interface.c), and a port may
 * have changed the return address by then.  The caller is therefore derived from the flow of
 * control: each thread has a shadow stack of return addresses.  Calls and indirect jumps are
 * pending transfers, resolved at the beginning of the next block, which is their target.
 *
 * longjmp() leaves functions without a return.  setjmp() ends with a store of the index of the
 * tracer's ret_stack to its buffer, and longjmp() loads that and then stores it to the thread: the
 * address of that word identifies the setjmp().
 */
#include <stdbool.h>
#include <string.h>

#include "thread.h"

/* In place of a site executed while recording was off: 0 is no valid address. */
#define UNRECORDED	0

static void append(unsigned int vcpu, enum record_kind kind, uint64_t site, uint64_t parent)
{
	uint64_t index = __atomic_fetch_add(&control->count, 1, __ATOMIC_RELAXED);
	const struct thread *thread = running[vcpu];

	if (index < control->capacity)
		records[index] = (struct record){
			.site = site,
			.parent = parent,
			.instructions = control->instructions[vcpu],
			.cpu = vcpu,
			.kind = kind,
			.level = thread->exceptions,
			.thread = thread->index,
		};
}

static bool window_is_open(void)
{
	return __atomic_load_n(&control->window, __ATOMIC_RELAXED);
}

static void push(struct thread *thread, uint64_t address)
{
	if (thread->depth == STACK_DEPTH)
		__atomic_fetch_add(&control->lost_frames, 1, __ATOMIC_RELAXED);
	else
		thread->stack[thread->depth++] = (struct frame){ .address = address };
}

static void pop(unsigned int vcpu, enum record_kind kind)
{
	struct thread *thread = running[vcpu];
	struct frame *frame = &thread->stack[--thread->depth];

	for (; frame->entries; frame->entries--) {
		uint64_t site = thread->entered[--thread->nr_entered];

		if (site != UNRECORDED)
			append(vcpu, kind, site, frame->address);
	}
}

/*
 * An indirect jump to @address: if a frame returns there, pop it with all above it.  Otherwise it
 * was a jump inside the function.
 */
static void unwind(unsigned int vcpu, uint64_t address)
{
	struct thread *thread = running[vcpu];

	for (size_t i = thread->depth; i > 0; i--) {
		if (thread->stack[i - 1].address == address) {
			while (thread->depth >= i)
				pop(vcpu, window_is_open() ? RECORD_RETURN : RECORD_LATE_RETURN);
			return;
		}
	}
}

static void settle(unsigned int vcpu, uint64_t address)
{
	struct thread *thread = running[vcpu];
	struct transfer pending = thread->pending;
	uint64_t back = pending.behind & control->address_mask;

	/*
	 * A block can end between a branch and its delay slot: single steps, the end of a page, the
	 * instruction budget of -icount.  The branch is taken only after the slot.
	 */
	if (address > pending.pc && address < pending.behind)
		return;

	thread->pending.kind = FLOW_NONE;
	switch (pending.kind) {
	case FLOW_CALL:
		/* A conditional call may not be taken; one undone by a fault is executed again. */
		if (address == pending.pc)
			thread->started_over = address;
		else if (address != back)
			push(thread, back);
		break;
	case FLOW_INDIRECT_JUMP:
		if (address != pending.pc)
			unwind(vcpu, address);
		break;
	case FLOW_EXCEPTION_RETURN:
		if (thread->exceptions) {
			thread->pending = thread->interrupted[--thread->exceptions];
			if (thread->pending.kind != FLOW_NONE)
				settle(vcpu, address);
		}
		break;
	case FLOW_NONE:
		break;
	}
}

void block_begins(unsigned int vcpu, void *userdata)
{
	follow_request();
	accessing[vcpu] = false;
	running[vcpu]->started_over = 0;
	if (running[vcpu]->pending.kind != FLOW_NONE)
		settle(vcpu, from_userdata(userdata));
}

/*
 * An exception came between a transfer and its target: save the transfer until the handler returns.
 * If the array is full, the oldest one is dropped: its handler panicked or ended a user program.
 */
void exception_begins(unsigned int vcpu, void *userdata)
{
	struct thread *thread;

	(void)userdata;
	follow_request();
	thread = running[vcpu];
	accessing[vcpu] = false;
	/* It came just after the return of the previous one, before any instruction. */
	while (thread->pending.kind == FLOW_EXCEPTION_RETURN && thread->exceptions)
		thread->pending = thread->interrupted[--thread->exceptions];
	if (thread->exceptions == EXCEPTION_DEPTH) {
		thread->exceptions--;
		memmove(&thread->interrupted[0], &thread->interrupted[1],
			thread->exceptions * sizeof(thread->interrupted[0]));
	}
	thread->interrupted[thread->exceptions++] = thread->pending;
	thread->pending.kind = FLOW_NONE;
}

bool accessing[MAX_CPUS];

void access_begins(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	accessing[vcpu] = true;
}

void setjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata)
{
	(void)userdata;
	if (qemu_plugin_mem_is_store(info))
		running[vcpu]->jump_word = address & control->address_mask;
}

/* Drop landings whose functions have returned. */
void setjmp_returns(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];
	size_t i, kept = 0;

	(void)userdata;
	for (i = 0; i < thread->nr_landings; i++)
		if (thread->landings[i].depth <= thread->depth &&
		    thread->landings[i].word != thread->jump_word)
			thread->landings[kept++] = thread->landings[i];
	if (kept == MAX_LANDINGS) {
		__atomic_fetch_add(&control->lost_frames, 1, __ATOMIC_RELAXED);
		kept--;
	}
	thread->landings[kept++] = (struct landing){ thread->jump_word, thread->depth };
	thread->nr_landings = kept;
}

/* Pop the frames above the caller of setjmp(), including longjmp(). */
void longjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		      void *userdata)
{
	struct thread *thread = running[vcpu];

	(void)userdata;
	if (!qemu_plugin_mem_is_store(info)) {
		thread->jump_word = address & control->address_mask;
		return;
	}
	for (size_t i = thread->nr_landings; i > 0; i--) {
		if (thread->landings[i - 1].word == thread->jump_word) {
			while (thread->depth >= thread->landings[i - 1].depth)
				pop(vcpu, RECORD_LEFT);
			return;
		}
	}
}

static void transfer_executed(unsigned int vcpu, const struct instruction *instruction,
			      enum flow_kind kind)
{
	running[vcpu]->pending = (struct transfer){
		.pc = instruction->address,
		.behind = instruction->address + instruction->size + control->delay_slot,
		.kind = kind,
	};
}

static void call_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, userdata, FLOW_CALL);
}

static void indirect_jump_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, userdata, FLOW_INDIRECT_JUMP);
}

static void exception_return_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, userdata, FLOW_EXCEPTION_RETURN);
}

const qemu_plugin_vcpu_udata_cb_t transfers[] = {
	[FLOW_CALL] = call_executed,
	[FLOW_INDIRECT_JUMP] = indirect_jump_executed,
	[FLOW_EXCEPTION_RETURN] = exception_return_executed,
};

void site_executed(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];
	struct frame *frame = thread->depth ? &thread->stack[thread->depth - 1] : NULL;
	uint64_t site = from_userdata(userdata);
	bool open = window_is_open();

	/* An interrupt between a site's call and its delay slot: still the same execution. */
	if (thread->started_over == site) {
		thread->started_over = 0;
		return;
	}
	if (open)
		append(vcpu, RECORD_ENTRY, site, frame ? frame->address : 0);
	if (!frame)
		return;
	if (thread->nr_entered == STACK_DEPTH) {
		__atomic_fetch_add(&control->lost_frames, 1, __ATOMIC_RELAXED);
		return;
	}
	thread->entered[thread->nr_entered++] = open ? site : UNRECORDED;
	frame->entries++;
}

void mark_executed(unsigned int vcpu, void *userdata)
{
	/* Not before the first record. */
	if (window_is_open())
		append(vcpu, RECORD_MARK, from_userdata(userdata), 0);
	else if (__atomic_load_n(&control->count, __ATOMIC_RELAXED))
		append(vcpu, RECORD_LATE_MARK, from_userdata(userdata), 0);
}
