// SPDX-License-Identifier: MIT
/*
 * The oracle: a record of executed call sites and returns.
 *
 * The host creates a control file and passes it as control=FILE.  It lists the addresses to watch
 * and the encodings of transfers of control.  The plugin appends a record at each watched
 * instruction, with the CPU, the thread, the function's return address and the number of executed
 * instructions, and at each return of such a function.  The host accesses the file through its own
 * mapping, only while the machine is stopped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flow.h"
#include "interface.h"

struct control *control;
static const struct flow_pattern *patterns;
static const struct flow_pattern *accesses;
static const uint64_t *vectors;
static const uint64_t *sites;
static const uint64_t *marks;
struct record *records;

/* If instructions are not counted: a block ended early by an exception counts as a whole. */
static void block_counted(unsigned int vcpu, void *userdata)
{
	control->instructions[vcpu] += from_userdata(userdata);
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

static bool matches(uint32_t word, const struct flow_pattern *pattern)
{
	return (word & pattern->mask) == pattern->value;
}

static enum flow_kind classify(uint32_t word)
{
	for (uint64_t i = 0; i < control->nr_patterns; i++)
		if (matches(word, &patterns[i]))
			return patterns[i].kind;
	return FLOW_NONE;
}

static bool accesses_memory(uint32_t word)
{
	for (uint64_t i = 0; i < control->nr_accesses; i++)
		if (matches(word, &accesses[i]))
			return true;
	return false;
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

static const qemu_plugin_vcpu_mem_cb_t of_switch = switch_accesses;
static const qemu_plugin_vcpu_mem_cb_t of_distant_switch = distant_switch_accesses;
static const qemu_plugin_vcpu_mem_cb_t of_setjmp = setjmp_accesses;
static const qemu_plugin_vcpu_mem_cb_t of_longjmp = longjmp_accesses;

static void memory_accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			    void *userdata)
{
	const qemu_plugin_vcpu_mem_cb_t *accessed = userdata;

	if (accessing[vcpu])
		(*accessed)(vcpu, info, address, NULL);
}

/*
 * Only if there is an access to watch: after a watched instruction that ends its block, QEMU 7.2
 * does not remove the callbacks from the CPU, and calls them after they were freed, or for other
 * instructions' accesses: those of the next atomic one, which are no longer in this block.
 */
static void watch_memory(struct qemu_plugin_insn *insn, const qemu_plugin_vcpu_mem_cb_t *accessed)
{
	if (!accesses_memory(instruction_word(insn)))
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, access_begins, QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, memory_accessed, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, (void *)accessed);
}

static void jump_translated(struct qemu_plugin_insn *insn, uint64_t address, enum flow_kind kind)
{
	if (is_in(address, control->setjmp_begin, control->setjmp_end)) {
		watch_memory(insn, &of_setjmp);
		if (kind == FLOW_INDIRECT_JUMP)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, setjmp_returns,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
	if (is_in(address, control->longjmp_begin, control->longjmp_end))
		watch_memory(insn, &of_longjmp);
}

/* Never freed: QEMU does not say when code that it has translated is thrown away. */
static struct instruction *transfer_at(uint64_t address, uint64_t size)
{
	struct instruction *instruction = malloc(sizeof(*instruction));

	if (!instruction)
		abort();
	*instruction = (struct instruction){ address, size };
	return instruction;
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
			transfer_at(address, qemu_plugin_insn_size(insn)));
	if (!control->nr_slots && control->switch_begin && address == control->switch_begin)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, distant_switch_begins,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (is_in(address, control->switch_begin, control->switch_end))
		watch_memory(insn, control->nr_slots ? &of_switch : &of_distant_switch);
	jump_translated(insn, address, kind);
	if (interface_counts_instructions())
		interface_count(insn, control->instructions);
}

static bool begins_thread(uint64_t address)
{
	for (int i = 0; i < MAX_THREAD_ENTRIES; i++)
		if (control->thread_entries[i] && address == control->thread_entries[i])
			return true;
	return false;
}

static void block_translated(struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb) & control->address_mask;
	size_t count = qemu_plugin_tb_n_insns(tb);
	qemu_plugin_vcpu_udata_cb_t begins = block_begins;

	control->confused = interface_confuses_cpus();
	if (contains(vectors, control->nr_vectors, address))
		begins = exception_begins;
	else if (begins_thread(address))
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
	       fits(control->accesses, control->nr_accesses, sizeof(*accesses), size) &&
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
	accesses = (void *)((char *)control + control->accesses);
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

	flow_init(info->system.max_vcpus);
	interface_init(id, info);
	control->attached = info->system.max_vcpus;
	interface_on_translation(id, block_translated);
	return 0;
}
