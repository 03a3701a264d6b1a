/* SPDX-License-Identifier: MIT */
/* Follows the flow of control of each thread; called by translated code. */
#ifndef HARNESS_ORACLE_FLOW_H
#define HARNESS_ORACLE_FLOW_H

#include <stdbool.h>

#include "control.h"
#include "qemu_plugin_api.h"

/* An instruction that transfers control, and the bytes of it. */
struct instruction {
	uint64_t address;
	uint64_t size;
};

_Static_assert(sizeof(void *) == sizeof(uint64_t), "an address travels in a pointer");

static inline void *to_userdata(uint64_t value)
{
	return (void *)value;
}

static inline uint64_t from_userdata(void *userdata)
{
	return (uint64_t)userdata;
}

/* Follow this many CPUs, before they execute anything. */
void flow_init(int nr_cpus);

/* At the beginning of a block; at that of an exception's entry, and of a new thread. */
void block_begins(unsigned int vcpu, void *userdata);
void exception_begins(unsigned int vcpu, void *userdata);
void thread_begins(unsigned int vcpu, void *userdata);

/* At the first instruction of the function that switches threads, if their structures lie anywhere. */
void distant_switch_begins(unsigned int vcpu, void *userdata);

/* By each CPU: a watched instruction, in the block that is executed. */
extern bool accessing[MAX_CPUS];

/*
 * At the loads and stores of __switch_to(), setjmp() and longjmp(); before each of them, in the same
 * block, access_begins().
 */
void access_begins(unsigned int vcpu, void *userdata);
void switch_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata);
void distant_switch_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *userdata);
void setjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata);
void longjmp_accesses(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		      void *userdata);
void setjmp_returns(unsigned int vcpu, void *userdata);

/* At an instruction of each kind: its struct instruction, which stays. */
extern const qemu_plugin_vcpu_udata_cb_t transfers[];

/* At a site, and at a mark: to_userdata(its address). */
void site_executed(unsigned int vcpu, void *userdata);
void mark_executed(unsigned int vcpu, void *userdata);

#endif
