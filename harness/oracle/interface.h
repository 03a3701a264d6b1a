/* SPDX-License-Identifier: MIT */
/* The differences between versions of QEMU's plugin interface. */
#ifndef HARNESS_ORACLE_INTERFACE_H
#define HARNESS_ORACLE_INTERFACE_H

#include "qemu_plugin_api.h"

/* Check the version of QEMU. */
void interface_init(qemu_plugin_id_t id, const qemu_info_t *info);

/* Call @translated with each translated block. */
void interface_on_translation(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb));

/*
 * Whether callbacks get a wrong CPU: the one for which the block was translated, not the one that
 * executes it.  Known when the guest's first block is translated.
 */
bool interface_confuses_cpus(void);

/* Whether interface_count() can be used; known as early. */
bool interface_counts_instructions(void);

/* Increment @counters[CPU] at each execution of @insn. */
void interface_count(struct qemu_plugin_insn *insn, uint64_t *counters);

/* The bytes of @insn in memory order, and their number; 0 if it has more than four. */
size_t interface_read(const struct qemu_plugin_insn *insn, unsigned char bytes[4]);

#endif
