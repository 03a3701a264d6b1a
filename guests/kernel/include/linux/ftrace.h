/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_H
#define _LINUX_FTRACE_H

#include <linux/types.h>

/* The port's own: MCOUNT_ADDR, ftrace_call_adjust(), struct dyn_arch_ftrace. */
#include <asm/ftrace.h>

struct module;

/* Linux's argument order, not the specification's: where the event is, then who called. */
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip);

/**
 * struct dyn_ftrace - one call site
 * @ip:		the address to patch
 * @flags:	reserved
 * @arch:	what the port wants to remember about it
 */
struct dyn_ftrace {
	unsigned long ip;
	unsigned long flags;
	struct dyn_arch_ftrace arch;
};

/* Every call site of the kernel, in the order of the addresses. */
extern struct dyn_ftrace *ftrace_records;
extern unsigned long ftrace_record_count;

/** ftrace_init - let the port prepare itself and turn every call site off */
void ftrace_init(void);

/** function_trace_call - the function tracer: write one "function" event */
void function_trace_call(unsigned long ip, unsigned long parent_ip);

/* Given by the port. The functions that patch return 0 or a negative error number. */
void ftrace_caller(void);
void ftrace_call(void);
void ftrace_stub(void);
int ftrace_dyn_arch_init(void);
int ftrace_make_nop(struct module *module, struct dyn_ftrace *record, unsigned long address);
int ftrace_make_call(struct dyn_ftrace *record, unsigned long address);
int ftrace_update_ftrace_func(ftrace_func_t function);

/* A port whose sites are not calls when they leave the compiler has its own. */
#ifndef ftrace_init_nop
static inline int ftrace_init_nop(struct module *module, struct dyn_ftrace *record)
{
	return ftrace_make_nop(module, record, MCOUNT_ADDR);
}
#endif

#endif
