// SPDX-License-Identifier: MIT
/*
 * As much of QEMU's plugin interface as the oracle needs, without a guest: a test says which block
 * a CPU executes, and this translates it, then runs what the plugin attached to it.
 */
#include <string.h>

#include "qemu_plugin_api.h"

#define MAX_INSNS 16
#define MAX_HOOKS 4

struct hook {
	qemu_plugin_vcpu_udata_cb_t call;
	void *userdata;
	uint64_t *add_to;
	uint64_t add;
};

struct qemu_plugin_insn {
	uint64_t vaddr;
	const unsigned char *data;
	struct hook hooks[MAX_HOOKS];
	size_t nr_hooks;
	qemu_plugin_vcpu_mem_cb_t accessed;
};

struct qemu_plugin_tb {
	struct hook begin;
	struct qemu_plugin_insn insns[MAX_INSNS];
	size_t nr_insns;
};

static qemu_plugin_vcpu_tb_trans_cb_t translated;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb)
{
	translated = cb;
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

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *ptr, uint64_t imm)
{
	insn->hooks[insn->nr_hooks++] = (struct hook){ .add_to = ptr, .add = imm };
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
	insn->accessed = cb;
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

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return insn->data;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return 4;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->vaddr;
}

QEMU_PLUGIN_EXPORT int fake_install(int cpus, bool system_emulation, int argc, char **argv)
{
	qemu_info_t info = {
		.system_emulation = system_emulation,
		.system = { .smp_vcpus = cpus, .max_vcpus = cpus },
	};

	return qemu_plugin_install(1, &info, argc, argv);
}

static void run(unsigned int vcpu, const struct hook *hook)
{
	if (hook->add_to)
		*hook->add_to += hook->add;
	else if (hook->call)
		hook->call(vcpu, hook->userdata);
}

static void translate(struct qemu_plugin_tb *tb, uint64_t vaddr, const unsigned char *code,
		      size_t count)
{
	memset(tb, 0, sizeof(*tb));
	tb->nr_insns = count;
	for (size_t i = 0; i < count; i++) {
		tb->insns[i].vaddr = vaddr + 4 * i;
		tb->insns[i].data = code + 4 * i;
	}
	translated(1, tb);
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

/* CPU @vcpu executes one instruction, which loads from @address or stores there. */
QEMU_PLUGIN_EXPORT void fake_access(unsigned int vcpu, uint64_t vaddr, const unsigned char *code,
				    uint64_t address, bool store)
{
	struct qemu_plugin_tb tb;

	translate(&tb, vaddr, code, 1);
	run(vcpu, &tb.begin);
	for (size_t j = 0; j < tb.insns[0].nr_hooks; j++)
		run(vcpu, &tb.insns[0].hooks[j]);
	if (tb.insns[0].accessed)
		tb.insns[0].accessed(vcpu, store, address, NULL);
}
