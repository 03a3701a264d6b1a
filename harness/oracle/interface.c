// SPDX-License-Identifier: MIT
/*
 * The differences between versions of QEMU's plugin interface.  One plugin supports all of them: it
 * checks which functions QEMU exports.
 */
#include <string.h>

#include "interface.h"

/* QEMU looks at it behind the constructors. */
QEMU_PLUGIN_EXPORT int qemu_plugin_version;

static struct qemu_plugin_scoreboard *scoreboard;
static int version;		/* what QEMU has; qemu_plugin_version is the least that fits */
static bool single_cpu;
static unsigned int nr_threads;	/* of the host, that execute CPUs */
static unsigned int nr_cpus;	/* that have begun */
static void (*block_translated)(struct qemu_plugin_tb *tb);

/* Up to version 1 CPUs in concurrent threads race for one counter. */
static bool each_cpu_has_a_counter(void)
{
	return qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu;
}

static __attribute__((constructor)) void choose_version(void)
{
	if (qemu_plugin_set_pc)
		qemu_plugin_version = 7;
	else
		qemu_plugin_version = each_cpu_has_a_counter() ? 2 : 1;
}

static void cpu_begins(void)
{
	static _Thread_local bool known;

	__atomic_fetch_add(&nr_cpus, 1, __ATOMIC_RELAXED);
	if (!known)
		__atomic_fetch_add(&nr_threads, 1, __ATOMIC_RELAXED);
	known = true;
}

static void cpu_begins_with_id(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	(void)vcpu;
	cpu_begins();
}

static void cpu_begins_with_userdata(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	cpu_begins();
}

void interface_init(qemu_plugin_id_t id, const qemu_info_t *info)
{
	version = info->version.cur;
	single_cpu = info->system.max_vcpus == 1;
	if (each_cpu_has_a_counter())
		scoreboard = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	if (version < 7)
		qemu_plugin_register_vcpu_init_cb_with_id(id, cpu_begins_with_id);
	else
		qemu_plugin_register_vcpu_init_cb_with_userdata(id, cpu_begins_with_userdata,
								NULL);
}

/*
 * With -icount one thread executes all CPUs in turn.  QEMU 10 then treats the CPU that a block is
 * translated for as a constant, although another may execute the block; and an inline operation
 * multiplies that constant in place, which also changes it for the guest's code in the block.
 */
bool interface_confuses_cpus(void)
{
	return each_cpu_has_a_counter() && nr_cpus > 1 && nr_threads == 1;
}

static void translated_with_id(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	block_translated(tb);
}

static void translated_with_userdata(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	block_translated(tb);
}

void interface_on_translation(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb))
{
	block_translated = translated;
	if (version < 7)
		qemu_plugin_register_vcpu_tb_trans_cb_with_id(id, translated_with_id);
	else
		qemu_plugin_register_vcpu_tb_trans_cb_with_userdata(id, translated_with_userdata,
								    NULL);
}

bool interface_counts_instructions(void)
{
	return single_cpu || (each_cpu_has_a_counter() && !interface_confuses_cpus());
}

/*
 * The host reads the counters directly, so they are in shared memory.  Only the stride of the
 * scoreboard is used: the offset leads from its elements to @counters.  When QEMU moves the
 * elements, it translates all blocks again, and the offset is computed again.
 */
void interface_count(struct qemu_plugin_insn *insn, uint64_t *counters)
{
	if (each_cpu_has_a_counter()) {
		char *elements = qemu_plugin_scoreboard_find(scoreboard, 0);
		qemu_plugin_u64 entry = { scoreboard, (uintptr_t)counters - (uintptr_t)elements };

		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, QEMU_PLUGIN_INLINE_ADD_U64, entry, 1);
	} else {
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   counters, 1);
	}
}

size_t interface_read(const struct qemu_plugin_insn *insn, unsigned char bytes[4])
{
	size_t size = qemu_plugin_insn_size(insn);

	if (size > 4)
		size = 4;
	if (version >= 3)
		return qemu_plugin_insn_data_copy(insn, bytes, size);
	memcpy(bytes, qemu_plugin_insn_data_pointer(insn), size);
	return size;
}
