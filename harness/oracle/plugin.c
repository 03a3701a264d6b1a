// SPDX-License-Identifier: MIT
/*
 * The oracle: what a guest really executed, told by QEMU itself.
 *
 * The host makes a control file and passes it as control=FILE.  It lists the addresses to watch
 * and the encodings that transfer control; the plugin appends a record each time that a watched
 * instruction begins, with the CPU, the thread, the return address of the function it is in (its
 * caller) and the number of instructions executed so far, and one each time that such a function
 * returns.  The host reads and writes the file through its own mapping, and only while the machine
 * is stopped.
 *
 * Registers cannot be read in every version of QEMU's interface (interface.c has what differs), and
 * a port may have changed the return address by then.  The caller therefore comes from the flow of
 * control: each thread has a shadow stack of return addresses.  A call instruction leaves a
 * pending transfer, and so does an indirect jump; the transfer is settled where the next block
 * begins, because only that tells where it went.
 *
 * Which thread a CPU runs comes from __switch_to(): it stores to the structure of the thread that
 * ran, and loads from that of the one that runs next.  CPUs may be threads of the host, running at
 * the same time: a CPU touches nothing but its own state and that of its thread, and the guest's own
 * locks keep a thread to one CPU at a time.
 *
 * longjmp() leaves functions without a return.  setjmp() ends with a store of how many return
 * addresses the tracer has taken, into its buffer, and longjmp() loads that and then stores it to
 * the thread: that word tells which setjmp() it goes back to, and when.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interface.h"

#define ORACLE_MAGIC	0x656c6361726f7466ull
#define ORACLE_VERSION	7
#define MAX_CPUS	64
#define STACK_DEPTH	65536
#define EXCEPTION_DEPTH	16
#define MAX_LANDINGS	1024
#define MAX_SLOTS	256
#define MAX_THREADS	4096

/* In place of a site that was executed while nothing was recorded: 0 is no instruction's address. */
#define UNRECORDED	0

enum flow_kind {
	FLOW_NONE,
	FLOW_CALL,		/* leaves a return address, if it is taken */
	FLOW_INDIRECT_JUMP,	/* a return, a jump through a table, the end of longjmp() */
	FLOW_EXCEPTION_RETURN,
};

/* Below the address of an instruction, which is even: that it has two bytes, and not four. */
#define SHORT	1

struct flow_pattern {
	uint32_t mask;
	uint32_t value;
	uint32_t kind;
	uint32_t reserved;
};

enum record_kind {
	RECORD_ENTRY,		/* a site was executed */
	RECORD_RETURN,		/* the function that it is in has returned */
	RECORD_LATE_RETURN,	/* the same, but nothing else was recorded any more */
	RECORD_MARK,		/* a mark was executed */
	RECORD_LATE_MARK,	/* likewise */
	RECORD_LEFT,		/* longjmp() has ended the function, at any time */
};

struct record {
	uint64_t site;		/* or the mark */
	uint64_t parent;	/* the return address, 0 when the thread has not made a call yet */
	uint64_t instructions;	/* executed by this CPU before the site, or the return's target */
	uint8_t cpu;
	uint8_t kind;
	uint8_t level;		/* exceptions that the thread is in */
	uint8_t reserved;
	uint32_t thread;	/* index in struct control.threads */
};

/* The beginning of the control file, in host byte order; layout.py has the same structure. */
struct control {
	uint64_t magic;
	uint32_t version;
	uint32_t size;			/* of this structure */
	uint32_t attached;		/* set by the plugin: number of CPUs that it follows */
	uint32_t window;		/* not 0: record */
	uint64_t address_mask;		/* bits of an address that count: 32 bit MIPS sign-extends */
	uint32_t code_big_endian;
	uint32_t delay_slot;		/* bytes behind a branch that are executed before it goes */
	uint32_t access_mask;		/* of instructions that load or store */
	uint32_t access_value;
	uint64_t nr_patterns;
	uint64_t nr_vectors;
	uint64_t nr_sites;
	uint64_t nr_marks;
	uint64_t patterns;		/* offsets in the file: struct flow_pattern[] */
	uint64_t vectors;		/* uint64_t[], sorted: entries of exceptions */
	uint64_t sites;			/* uint64_t[], sorted */
	uint64_t marks;			/* uint64_t[], sorted: other instructions to record */
	uint64_t switch_begin;		/* __switch_to(), and the address behind it; 0: no threads */
	uint64_t switch_end;
	uint64_t thread_entry;		/* where a new thread begins */
	uint64_t thread_table;		/* address of the threads' structures, in the guest, */
	uint64_t thread_size;		/* bytes of each */
	uint64_t nr_slots;		/* and how many there are */
	uint64_t setjmp_begin;		/* setjmp() and longjmp(), as __switch_to() above */
	uint64_t setjmp_end;
	uint64_t longjmp_begin;
	uint64_t longjmp_end;
	uint64_t records;		/* struct record[capacity] */
	uint64_t capacity;
	uint64_t count;			/* more than capacity: so many records found no room */
	uint64_t lost_frames;		/* calls too deep for the shadow stack, threads too many */
	uint64_t confused;		/* set by the plugin: which CPU executes is not known */
	uint64_t nr_threads;
	uint64_t threads[MAX_THREADS];	/* address of the structure; 0 until it is known */
	uint64_t instructions[MAX_CPUS];
};

/* A transfer of control that was executed; where it went is not known yet. */
struct transfer {
	uint64_t pc;
	uint64_t behind;		/* the first address behind it and its delay slot */
	enum flow_kind kind;
};

/* One call; sites are counted because a tail call brings another function into the same frame. */
struct frame {
	uint64_t address;		/* where it returns to */
	size_t entries;			/* sites executed in it */
};

/* A call of setjmp(). */
struct landing {
	uint64_t word;			/* the last one that it stored to */
	size_t depth;			/* frames, with its own */
};

/* A thread, or what a CPU does before its first switch. */
struct thread {
	uint32_t index;
	struct transfer pending;
	struct transfer interrupted[EXCEPTION_DEPTH];
	size_t exceptions;
	uint64_t started_over;		/* a call that is executed again, after an exception */
	size_t depth;
	struct frame stack[STACK_DEPTH];
	size_t nr_entered;
	uint64_t entered[STACK_DEPTH];	/* the sites of all frames, outermost first */
	uint64_t jump_word;		/* setjmp() has stored to, or longjmp() loaded from */
	size_t nr_landings;
	struct landing landings[MAX_LANDINGS];	/* the deepest last */
};

static struct control *control;
static const struct flow_pattern *patterns;
static const uint64_t *vectors;
static const uint64_t *sites;
static const uint64_t *marks;
static struct record *records;
static struct thread *running[MAX_CPUS];	/* by each CPU */
static struct thread *slots[MAX_SLOTS];	/* by the place of their structures in the guest */

_Static_assert(sizeof(void *) == sizeof(uint64_t), "an address travels in a pointer");

static void *to_userdata(uint64_t value)
{
	return (void *)value;
}

static uint64_t from_userdata(void *userdata)
{
	return (uint64_t)userdata;
}

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
 * An indirect jump arrived at @address: if a frame returns there, that frame is gone, with all
 * above it.  An address that no frame returns to was a jump inside the function.
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
		/* A conditional call that was not taken goes on; one undone by a fault starts over. */
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

static void block_begins(unsigned int vcpu, void *userdata)
{
	running[vcpu]->started_over = 0;
	if (running[vcpu]->pending.kind != FLOW_NONE)
		settle(vcpu, from_userdata(userdata));
}

/*
 * An exception came between a transfer and its arrival: keep the transfer until the handler
 * returns.  A handler that never does so, because it panicked or ended a user program, is forgotten
 * when the array is full.
 */
static void exception_begins(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];

	(void)userdata;
	/* It came as the one before had returned, and before a single instruction. */
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

/* The structure may have been another thread's before. */
static void thread_begins(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];

	(void)userdata;
	number_thread(thread, control->threads[thread->index]);
	thread->pending.kind = FLOW_NONE;
	thread->exceptions = 0;
	thread->started_over = 0;
	thread->depth = 0;
	thread->nr_entered = 0;
	thread->nr_landings = 0;
}

/*
 * __switch_to() stores to the thread that has run, which tells who that was if it is not known yet,
 * and loads from the one that runs from now on.
 */
static void switch_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
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

static void setjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			    void *userdata)
{
	(void)userdata;
	if (qemu_plugin_mem_is_store(info))
		running[vcpu]->jump_word = address & control->address_mask;
}

/* A landing whose function has returned is none any more. */
static void setjmp_returns(unsigned int vcpu, void *userdata)
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

/* What lies above the caller of setjmp() is gone, longjmp() itself too. */
static void longjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
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

static void transfer_executed(unsigned int vcpu, uint64_t value, enum flow_kind kind)
{
	uint64_t pc = value & ~(uint64_t)SHORT;

	running[vcpu]->pending = (struct transfer){
		.pc = pc,
		.behind = pc + (value & SHORT ? 2 : 4) + control->delay_slot,
		.kind = kind,
	};
}

static void call_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, from_userdata(userdata), FLOW_CALL);
}

static void indirect_jump_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, from_userdata(userdata), FLOW_INDIRECT_JUMP);
}

static void exception_return_executed(unsigned int vcpu, void *userdata)
{
	transfer_executed(vcpu, from_userdata(userdata), FLOW_EXCEPTION_RETURN);
}

static const qemu_plugin_vcpu_udata_cb_t transfers[] = {
	[FLOW_CALL] = call_executed,
	[FLOW_INDIRECT_JUMP] = indirect_jump_executed,
	[FLOW_EXCEPTION_RETURN] = exception_return_executed,
};

/* Where instructions are not counted. A block that an exception ends early counts as a whole. */
static void block_counted(unsigned int vcpu, void *userdata)
{
	control->instructions[vcpu] += from_userdata(userdata);
}

static void site_executed(unsigned int vcpu, void *userdata)
{
	struct thread *thread = running[vcpu];
	struct frame *frame = thread->depth ? &thread->stack[thread->depth - 1] : NULL;
	uint64_t site = from_userdata(userdata);
	bool open = window_is_open();

	/* An interrupt between a site's call and its delay slot: this is still the same execution. */
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

static void mark_executed(unsigned int vcpu, void *userdata)
{
	/* Before the first record nobody can tell what it is for. */
	if (window_is_open())
		append(vcpu, RECORD_MARK, from_userdata(userdata), 0);
	else if (__atomic_load_n(&control->count, __ATOMIC_RELAXED))
		append(vcpu, RECORD_LATE_MARK, from_userdata(userdata), 0);
}

static uint32_t instruction_word(const struct qemu_plugin_insn *insn)
{
	unsigned char byte[4];
	size_t size = interface_read(insn, byte);
	uint32_t word = 0;

	for (size_t i = 0; i < size; i++)
		word = word << 8 | byte[control->code_big_endian ? i : size - 1 - i];
	return word;
}

static enum flow_kind classify(uint32_t word)
{
	for (uint64_t i = 0; i < control->nr_patterns; i++)
		if ((word & patterns[i].mask) == patterns[i].value)
			return patterns[i].kind;
	return FLOW_NONE;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static bool contains(const uint64_t *sorted, size_t count, uint64_t address)
{
	return bsearch(&address, sorted, count, sizeof(*sorted), compare_addresses);
}

static bool is_in(uint64_t address, uint64_t begin, uint64_t end)
{
	return address >= begin && address < end;
}

/*
 * Only where there is an access to watch: behind a watched instruction that ends its block, QEMU 7.2
 * does not take the callbacks from the CPU, and calls them when they have been freed.
 */
static void watch_memory(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t accesses)
{
	if ((instruction_word(insn) & control->access_mask) != control->access_value)
		return;
	qemu_plugin_register_vcpu_mem_cb(insn, accesses, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
					 NULL);
}

static void jump_translated(struct qemu_plugin_insn *insn, uint64_t address, enum flow_kind kind)
{
	if (is_in(address, control->setjmp_begin, control->setjmp_end)) {
		watch_memory(insn, setjmp_accesses);
		if (kind == FLOW_INDIRECT_JUMP)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, setjmp_returns,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
	if (is_in(address, control->longjmp_begin, control->longjmp_end))
		watch_memory(insn, longjmp_accesses);
}

/* The order matters: the count of a site's record does not include the site itself. */
static void instruction_translated(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn) & control->address_mask;
	enum flow_kind kind = classify(instruction_word(insn));

	if (contains(sites, control->nr_sites, address))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, site_executed, QEMU_PLUGIN_CB_NO_REGS,
						       to_userdata(address));
	if (contains(marks, control->nr_marks, address))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, mark_executed, QEMU_PLUGIN_CB_NO_REGS,
						       to_userdata(address));
	if (kind != FLOW_NONE)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, transfers[kind], QEMU_PLUGIN_CB_NO_REGS,
			to_userdata(address | (qemu_plugin_insn_size(insn) == 2 ? SHORT : 0)));
	if (is_in(address, control->switch_begin, control->switch_end))
		watch_memory(insn, switch_accesses);
	jump_translated(insn, address, kind);
	if (interface_counts_instructions())
		interface_count(insn, control->instructions);
}

static void block_translated(struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb) & control->address_mask;
	size_t count = qemu_plugin_tb_n_insns(tb);
	qemu_plugin_vcpu_udata_cb_t begins = block_begins;

	control->confused = interface_confuses_cpus();
	if (contains(vectors, control->nr_vectors, address))
		begins = exception_begins;
	else if (control->thread_entry && address == control->thread_entry)
		begins = thread_begins;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, begins, QEMU_PLUGIN_CB_NO_REGS,
					     to_userdata(address));
	for (size_t i = 0; i < count; i++)
		instruction_translated(qemu_plugin_tb_get_insn(tb, i));
	if (!interface_counts_instructions())
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, 0), block_counted,
						       QEMU_PLUGIN_CB_NO_REGS, to_userdata(count));
}

static bool fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t file_size)
{
	return offset >= sizeof(struct control) && offset <= file_size && offset % 8 == 0 &&
	       count <= (file_size - offset) / size;
}

static bool control_is_sound(uint64_t size)
{
	return size >= sizeof(*control) && control->magic == ORACLE_MAGIC &&
	       control->version == ORACLE_VERSION && control->size == sizeof(*control) &&
	       fits(control->patterns, control->nr_patterns, sizeof(*patterns), size) &&
	       fits(control->vectors, control->nr_vectors, sizeof(*vectors), size) &&
	       fits(control->sites, control->nr_sites, sizeof(*sites), size) &&
	       fits(control->marks, control->nr_marks, sizeof(*marks), size) &&
	       control->nr_slots <= MAX_SLOTS && (control->thread_size || !control->nr_slots) &&
	       fits(control->records, control->capacity, sizeof(*records), size);
}

static bool open_control(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(*control)) {
		fprintf(stderr, "oracle: %s cannot be used as a control file\n", path);
		return false;
	}
	control = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (control == MAP_FAILED) {
		perror("oracle: control file");
		return false;
	}
	if (!control_is_sound(status.st_size)) {
		fprintf(stderr, "oracle: %s is not a control file of version %d\n", path,
			ORACLE_VERSION);
		return false;
	}
	patterns = (void *)((char *)control + control->patterns);
	vectors = (void *)((char *)control + control->vectors);
	sites = (void *)((char *)control + control->sites);
	marks = (void *)((char *)control + control->marks);
	records = (void *)((char *)control + control->records);
	return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const char option[] = "control=";

	if (argc != 1 || strncmp(argv[0], option, sizeof(option) - 1) != 0) {
		fprintf(stderr, "oracle: exactly one argument is needed: control=FILE\n");
		return -1;
	}
	if (!info->system_emulation || info->system.max_vcpus > MAX_CPUS) {
		fprintf(stderr, "oracle: a whole machine of at most %d CPUs is needed\n", MAX_CPUS);
		return -1;
	}
	if (!open_control(argv[0] + sizeof(option) - 1))
		return -1;

	for (int i = 0; i < info->system.max_vcpus; i++)
		running[i] = new_thread(0);
	interface_init(id, info);
	control->attached = info->system.max_vcpus;
	interface_on_translation(id, block_translated);
	return 0;
}
