// SPDX-License-Identifier: MIT
/*
 * The records of call sites, and functions for the ports.
 */
#include <stdlib.h>

#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ftrace_triggers.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>

#if defined(CC_USING_PATCHABLE_FUNCTION_ENTRY) && defined(MCOUNT_INSN_SIZE)
/* For the debugger: rec->ip is so many bytes before the end of a site. */
const unsigned int mcount_insn_size = MCOUNT_INSN_SIZE;
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/* For the debugger: the bytes of the ops in front of a function. */
const unsigned int ftrace_literal_size = sizeof(struct ftrace_ops *);
#endif

ftrace_func_t ftrace_trace_function = (ftrace_func_t)ftrace_stub;

#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
int function_trace_stop;
#endif

#ifdef CONFIG_DYNAMIC_FTRACE

struct dyn_ftrace *ftrace_records;
unsigned long ftrace_record_count;

/* For ports without initialisation. */
int __weak ftrace_dyn_arch_init(void)
{
	return 0;
}

void ftrace_init(void)
{
	unsigned long count = __stop_mcount_loc - __start_mcount_loc;
	const unsigned long *location;
	struct dyn_ftrace *rec;
	int error;

	error = ftrace_dyn_arch_init();
	if (error)
		panic("ftrace_dyn_arch_init: error %d", error);

	ftrace_records = calloc(count, sizeof(*ftrace_records));
	if (!ftrace_records && count)
		panic("ftrace: no memory for %lu call sites", count);

	rec = ftrace_records;
	for (location = __start_mcount_loc; location < __stop_mcount_loc; location++) {
		rec->ip = ftrace_call_adjust(*location);
		if (!rec->ip)
			continue;
		error = ftrace_init_nop(NULL, rec);
		if (error)
			panic("ftrace: call site %#lx cannot be turned off: error %d",
			      rec->ip, error);
		rec++;
	}
	ftrace_record_count = rec - ftrace_records;
}

int ftrace_module_init(struct module *module)
{
	unsigned long count = module->mcount_stop - module->mcount_start;
	struct dyn_ftrace *records = module_memory(module, count * sizeof(*records));
	struct dyn_ftrace *rec = records;
	const unsigned long *location;
	int error;

	if (!records)
		return -ENOMEM;
	for (location = module->mcount_start; location < module->mcount_stop; location++) {
		*rec = (struct dyn_ftrace){ .ip = ftrace_call_adjust(*location) };
		if (!rec->ip)
			continue;
		error = ftrace_init_nop(module, rec);
		if (error)
			return error;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
		ftrace_update_flags(rec);
#endif
		rec++;
	}
	module->ftrace_records = records;
	module->ftrace_record_count = rec - records;
	return 0;
}

void ftrace_release_mod(struct module *module)
{
	module->ftrace_record_count = 0;
	module->ftrace_records = NULL;
}

/* For a debugger, in place of one call for each site. */
int ftrace_replace_code(int enable)
{
	unsigned long target = (unsigned long)ftrace_caller;
	unsigned long i;
	int error = 0;

	for (i = 0; i < ftrace_record_count; i++) {
		error = enable ? ftrace_make_call(&ftrace_records[i], target) :
				 ftrace_make_nop(NULL, &ftrace_records[i], target);
		if (error)
			break;
		if (enable)
			ftrace_records[i].flags |= FTRACE_FL_ENABLED;
		else
			ftrace_records[i].flags &= ~FTRACE_FL_ENABLED;
	}
	return error;
}

#else

void ftrace_init(void)
{
}

int ftrace_module_init(struct module *module)
{
	return 0;
}

void ftrace_release_mod(struct module *module)
{
}

#endif
