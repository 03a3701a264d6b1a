/* SPDX-License-Identifier: MIT */
/* What differs between the versions of QEMU's plugin interface. */
#ifndef HARNESS_ORACLE_INTERFACE_H
#define HARNESS_ORACLE_INTERFACE_H

#include "qemu_plugin_api.h"

/* Look at the QEMU that has loaded the plugin. */
void interface_init(qemu_plugin_id_t id, const qemu_info_t *info);

/* Have @translated called with each block that QEMU has translated. */
void interface_on_translation(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb));

/*
 * Whether callbacks are told a wrong CPU: the one for which the block was translated, not the one
 * that executes it.  Known when the guest's first block is translated.
 */
bool interface_confuses_cpus(void);

/* Whether interface_count() can be used; known as early. */
bool interface_counts_instructions(void);

/* Have @insn add 1 to @counters[number of the CPU] each time that it is executed. */
void interface_count(struct qemu_plugin_insn *insn, uint64_t *counters);

/* The bytes of @insn, as they lie in memory, and how many; 0 when it has more than four. */
size_t interface_read(const struct qemu_plugin_insn *insn, unsigned char bytes[4]);

#endif
