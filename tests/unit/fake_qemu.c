// SPDX-License-Identifier: MIT
/*
 * As much of QEMU's plugin interface as the oracle needs, without a guest: a test says which block
 * a CPU executes, and this translates it, then runs what the plugin attached to it.  INTERFACE is the
 * version of the interface: 1, 2, 3 or 7.
 */
#include <string.h>

#include "qemu_plugin_api.h"

#define MAX_INSNS 16
/* Bytes of each instruction. */
QEMU_PLUGIN_EXPORT size_t fake_size = 4;

#define MAX_HOOKS 4

struct hook {
	qemu_plugin_vcpu_udata_cb_t call;
	void *userdata;
	char *add_to;
	size_t stride;		/* from one CPU's counter to the next */
	uint64_t add;
};

struct qemu_plugin_insn {
	uint64_t vaddr;
	const unsigned char *data;
	struct hook hooks[MAX_HOOKS];
	size_t nr_hooks;
	qemu_plugin_vcpu_mem_cb_t accessed;
	void *accessed_userdata;
};

struct qemu_plugin_tb {
	struct hook begin;
	struct qemu_plugin_insn insns[MAX_INSNS];
	size_t nr_insns;
};

#if INTERFACE < 7
static void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

void qemu_plugin_register_vcpu_tb_trans_cb_with_id(qemu_plugin_id_t id,
						   void (*cb)(qemu_plugin_id_t id,
							      struct qemu_plugin_tb *tb))
{
	translated = cb;
}
#else
static void (*translated)(struct qemu_plugin_tb *tb, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb_with_userdata(qemu_plugin_id_t id,
							 void (*cb)(struct qemu_plugin_tb *tb,
								    void *userdata),
							 void *userdata)
{
	translated = cb;
}

bool qemu_plugin_set_pc(uint64_t vaddr)
{
	return false;
}
#endif

#if INTERFACE < 7
static void (*cpu_begins)(qemu_plugin_id_t id, unsigned int vcpu);

void qemu_plugin_register_vcpu_init_cb_with_id(qemu_plugin_id_t id,
					       void (*cb)(qemu_plugin_id_t id, unsigned int vcpu))
{
	cpu_begins = cb;
}
#else
static void (*cpu_begins)(unsigned int vcpu, void *userdata);

void qemu_plugin_register_vcpu_init_cb_with_userdata(qemu_plugin_id_t id,
						     void (*cb)(unsigned int vcpu, void *userdata),
						     void *userdata)
{
	cpu_begins = cb;
}
#endif

/* CPU @vcpu begins, in the thread of the host that calls this. */
QEMU_PLUGIN_EXPORT void fake_begin(unsigned int vcpu)
{
#if INTERFACE < 7
	cpu_begins(1, vcpu);
#else
	cpu_begins(vcpu, NULL);
#endif
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata)
{
	tb->begin = (struct hook){ .call = cb, .userdata = userdata };
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata)
{
	insn->hooks[insn->nr_hooks++] = (struct hook){ .call = cb, .userdata = userdata };
}

#if INTERFACE == 1
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *ptr, uint64_t imm)
{
	insn->hooks[insn->nr_hooks++] = (struct hook){ .add_to = ptr, .add = imm };
}
#else
struct qemu_plugin_scoreboard {
	size_t element_size;
	char elements[2][256];
	int current;
};

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size)
{
	static struct qemu_plugin_scoreboard scoreboard;

	scoreboard.element_size = element_size;
	return &scoreboard;
}

void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu_index)
{
	return score->elements[score->current] + vcpu_index * score->element_size;
}

/* The elements move behind each translation: the most that QEMU may do. */
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t imm)
{
	insn->hooks[insn->nr_hooks++] = (struct hook){
		.add_to = (char *)qemu_plugin_scoreboard_find(entry.score, 0) + entry.offset,
		.stride = entry.score->element_size,
		.add = imm,
	};
	entry.score->current ^= 1;
}
#endif

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
	insn->accessed = cb;
	insn->accessed_userdata = userdata;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->nr_insns;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
	return tb->insns[0].vaddr;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	return (struct qemu_plugin_insn *)&tb->insns[index];
}

#if INTERFACE < 3
const void *qemu_plugin_insn_data_pointer(const struct qemu_plugin_insn *insn)
{
	return insn->data;
}
#else
size_t qemu_plugin_insn_data_copy(const struct qemu_plugin_insn *insn, void *data, size_t size)
{
	memcpy(data, insn->data, size < 4 ? size : 4);
	return size < 4 ? size : 4;
}
#endif

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return fake_size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->vaddr;
}

QEMU_PLUGIN_EXPORT int fake_install(int cpus, bool system_emulation, int argc, char **argv)
{
	qemu_info_t info = {
		.version = { .min = INTERFACE == 3 ? 2 : INTERFACE, .cur = INTERFACE },
		.system_emulation = system_emulation,
		.system = { .smp_vcpus = cpus, .max_vcpus = cpus },
	};

	if (qemu_plugin_version < info.version.min || qemu_plugin_version > info.version.cur)
		return -2;
	return qemu_plugin_install(1, &info, argc, argv);
}

static void run(unsigned int vcpu, const struct hook *hook)
{
	if (hook->add_to)
		*(uint64_t *)(hook->add_to + vcpu * hook->stride) += hook->add;
	else if (hook->call)
		hook->call(vcpu, hook->userdata);
}

static void translate(struct qemu_plugin_tb *tb, uint64_t vaddr, const unsigned char *code,
		      size_t count)
{
	memset(tb, 0, sizeof(*tb));
	tb->nr_insns = count;
	for (size_t i = 0; i < count; i++) {
		tb->insns[i].vaddr = vaddr + fake_size * i;
		tb->insns[i].data = code + fake_size * i;
	}
#if INTERFACE < 7
	translated(1, tb);
#else
	translated(tb, NULL);
#endif
}

/* CPU @vcpu executes a block of @count instructions at @vaddr, bytes as they lie in memory. */
QEMU_PLUGIN_EXPORT void fake_execute(unsigned int vcpu, uint64_t vaddr, const unsigned char *code,
				     size_t count)
{
	struct qemu_plugin_tb tb;

	translate(&tb, vaddr, code, count);
	run(vcpu, &tb.begin);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < tb.insns[i].nr_hooks; j++)
			run(vcpu, &tb.insns[i].hooks[j]);
}

static struct qemu_plugin_insn last;	/* of fake_access() */

/* The callback of the last access once more: QEMU 7.2 may keep it for a later instruction. */
QEMU_PLUGIN_EXPORT void fake_stale_access(unsigned int vcpu, uint64_t address, bool store)
{
	if (last.accessed)
		last.accessed(vcpu, store, address, last.accessed_userdata);
}

/* CPU @vcpu executes one instruction, which loads from @address or stores there. */
QEMU_PLUGIN_EXPORT void fake_access(unsigned int vcpu, uint64_t vaddr, const unsigned char *code,
				    uint64_t address, bool store)
{
	struct qemu_plugin_tb tb;

	translate(&tb, vaddr, code, 1);
	run(vcpu, &tb.begin);
	for (size_t j = 0; j < tb.insns[0].nr_hooks; j++)
		run(vcpu, &tb.insns[0].hooks[j]);
	last = tb.insns[0];
	fake_stale_access(vcpu, address, store);
}
