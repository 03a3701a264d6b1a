/* SPDX-License-Identifier: MIT */
/*
 * The calls of QEMU's TCG plugin interface that the oracle uses, in its versions 1 (QEMU 7.2), 2 to 5
 * (9.0 to 10.2) and 7 (11.1).
 *
 * Distributions package QEMU without the header for its plugins.  These are our own declarations
 * of the documented interface: names, argument order and the values of the constants are QEMU's,
 * nothing else is.  What not every version has is weak: it is NULL in a QEMU without it.
 */
#ifndef HARNESS_QEMU_PLUGIN_API_H
#define HARNESS_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_WEAK __attribute__((weak))

typedef uint64_t qemu_plugin_id_t;

/* What QEMU tells a plugin about itself when it loads it. */
typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

struct qemu_plugin_tb;		/* a translation block, valid during its translation only */
struct qemu_plugin_insn;	/* an instruction of it, valid as long */

/* Which guest registers a callback may touch: ours touch none. */
enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
};

/* Which accesses to memory a callback is for, and what it is told of one. */
enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW,
};

typedef uint32_t qemu_plugin_meminfo_t;

/* Called each time that a block or an instruction begins. */
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu, void *userdata);
/* Called after an instruction has accessed memory. */
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu, qemu_plugin_meminfo_t info,
					  uint64_t vaddr, void *userdata);

/* One symbol, what it registers is called when a block was translated: up to version 6, and from 7. */
void qemu_plugin_register_vcpu_tb_trans_cb_with_id(qemu_plugin_id_t id,
						   void (*cb)(qemu_plugin_id_t id,
							      struct qemu_plugin_tb *tb))
	__asm__("qemu_plugin_register_vcpu_tb_trans_cb");
void qemu_plugin_register_vcpu_tb_trans_cb_with_userdata(qemu_plugin_id_t id,
							 void (*cb)(struct qemu_plugin_tb *tb,
								    void *userdata),
							 void *userdata)
	__asm__("qemu_plugin_register_vcpu_tb_trans_cb");
/* Likewise; called once for each CPU, in the thread of the host that executes it. */
void qemu_plugin_register_vcpu_init_cb_with_id(qemu_plugin_id_t id,
					       void (*cb)(qemu_plugin_id_t id, unsigned int vcpu))
	__asm__("qemu_plugin_register_vcpu_init_cb");
void qemu_plugin_register_vcpu_init_cb_with_userdata(qemu_plugin_id_t id,
						     void (*cb)(unsigned int vcpu, void *userdata),
						     void *userdata)
	__asm__("qemu_plugin_register_vcpu_init_cb");

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);

/* Up to version 1: one counter for all CPUs, which race for it. */
QEMU_PLUGIN_WEAK
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *ptr, uint64_t imm);

/*
 * From version 2 on: QEMU has an array with an element for each CPU, which it may move; a counter is
 * a place in the elements.  The operation adds to base of the array + offset + CPU * element_size.
 */
struct qemu_plugin_scoreboard;

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

QEMU_PLUGIN_WEAK
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
QEMU_PLUGIN_WEAK
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu_index);
QEMU_PLUGIN_WEAK
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t imm);

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* From version 6 on. The oracle only looks whether it is there. */
QEMU_PLUGIN_WEAK
bool qemu_plugin_set_pc(uint64_t vaddr);

/* One symbol: a pointer to the bytes up to version 2, a copy of at most @size of them from 3 on. */
const void *qemu_plugin_insn_data_pointer(const struct qemu_plugin_insn *insn)
	__asm__("qemu_plugin_insn_data");
size_t qemu_plugin_insn_data_copy(const struct qemu_plugin_insn *insn, void *data, size_t size)
	__asm__("qemu_plugin_insn_data");

/* What a plugin defines. */
#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv);

#endif
