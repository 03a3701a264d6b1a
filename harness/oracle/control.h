/* SPDX-License-Identifier: MIT */
/* The control file shared by host and plugin; layout.py has the same structures. */
#ifndef HARNESS_ORACLE_CONTROL_H
#define HARNESS_ORACLE_CONTROL_H

#include <stdint.h>

#define ORACLE_MAGIC	0x656c6361726f7466ull
#define ORACLE_VERSION	9
#define MAX_CPUS	64
#define MAX_SLOTS	256
#define MAX_THREADS	4096
#define MAX_THREAD_ENTRIES	2

enum flow_kind {
	FLOW_NONE,			/* in a list of accesses: every one of them */
	FLOW_CALL,		/* leaves a return address, if it is taken */
	FLOW_INDIRECT_JUMP,	/* a return, a jump through a table, the end of longjmp() */
	FLOW_EXCEPTION_RETURN,
};

struct flow_pattern {
	uint32_t mask;
	uint32_t value;
	uint32_t kind;
	uint32_t reserved;
};

enum record_kind {
	RECORD_ENTRY,		/* a site was executed */
	RECORD_RETURN,		/* the function that it is in has returned */
	RECORD_LATE_RETURN,	/* the same, after the end of recording */
	RECORD_MARK,		/* a mark was executed */
	RECORD_LATE_MARK,	/* likewise */
	RECORD_LEFT,		/* longjmp() has ended the function, at any time */
};

/* What the plugin does before it follows another instruction. */
enum request {
	REQUEST_NONE,
	REQUEST_KEEP,			/* remember what is known of all threads */
	REQUEST_GO_BACK,		/* forget what has happened since */
};

struct record {
	uint64_t site;		/* or the mark */
	uint64_t parent;	/* the return address, 0 if the thread has made no call yet */
	uint64_t instructions;	/* executed by this CPU before the site, or the return's target */
	uint8_t cpu;
	uint8_t kind;
	uint8_t level;		/* exceptions that the thread is in */
	uint8_t reserved;
	uint32_t thread;	/* index in struct control.threads */
};

/* The beginning of the file, in host byte order. */
struct control {
	uint64_t magic;
	uint32_t version;
	uint32_t size;			/* of this structure */
	uint32_t attached;		/* set by the plugin: number of CPUs that it follows */
	uint32_t window;		/* not 0: record */
	uint32_t request;		/* enum request; set by the host, cleared by the plugin */
	uint32_t reserved;
	uint64_t address_mask;		/* valid bits of an address: 32 bit MIPS sign-extends */
	uint32_t code_big_endian;
	uint32_t delay_slot;		/* bytes of a branch's delay slot */
	uint64_t nr_patterns;
	uint64_t nr_accesses;
	uint64_t nr_vectors;
	uint64_t nr_sites;
	uint64_t nr_marks;
	uint64_t patterns;		/* offsets in the file: struct flow_pattern[] */
	uint64_t accesses;		/* struct flow_pattern[]: instructions that load or store */
	uint64_t vectors;		/* uint64_t[], sorted: entries of exceptions */
	uint64_t sites;			/* uint64_t[], sorted */
	uint64_t marks;			/* uint64_t[], sorted: other instructions to record */
	uint64_t switch_begin;		/* __switch_to(), and the address behind it; 0: no threads */
	uint64_t switch_end;
	uint64_t thread_entries[MAX_THREAD_ENTRIES];	/* where new threads begin */
	uint64_t thread_table;		/* address of the threads' structures, in the guest, */
	uint64_t thread_size;		/* bytes of each */
	uint64_t nr_slots;		/* and how many there are; 0: they lie anywhere */
	uint64_t setjmp_begin;		/* setjmp() and longjmp(), as __switch_to() above */
	uint64_t setjmp_end;
	uint64_t longjmp_begin;
	uint64_t longjmp_end;
	uint64_t records;		/* struct record[capacity] */
	uint64_t capacity;
	uint64_t count;			/* beyond capacity: records that did not fit */
	uint64_t lost_frames;		/* calls too deep for the shadow stack, threads too many */
	uint64_t confused;		/* set by the plugin: which CPU executes is not known */
	uint64_t nr_threads;
	uint64_t threads[MAX_THREADS];	/* address of the structure; 0 until it is known */
	uint64_t instructions[MAX_CPUS];
};

extern struct control *control;
extern struct record *records;

#endif
