// SPDX-License-Identifier: MIT
/*
 * The list of tracers of ports with one slot. The debugger changes it like the functions here,
 * while the kernel is stopped; a CPU may be in the stub or in ftrace_ops_list_func() at any
 * instruction.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>

#ifdef FTRACE_WITH_OPS

#ifndef ARCH_SUPPORTS_FTRACE_OPS
#error "With tracers that get an ops, asm/ftrace.h has to define ARCH_SUPPORTS_FTRACE_OPS"
#endif

#include "trace.h"

struct ftrace_ops ftrace_list_end = { .func = (ftrace_func_t)ftrace_stub };
struct ftrace_ops *ftrace_ops_list = &ftrace_list_end;
struct ftrace_ops *function_trace_op = &ftrace_list_end;

struct ftrace_ops global_ops = { .func = function_trace_call };
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* NULL in a port with a slot for the graph tracer: its ops is never in the list. */
void ftrace_graph_func(FTRACE_PARAMETERS) __weak;

struct ftrace_ops graph_ops = { .func = ftrace_graph_func };
#endif

static bool ftrace_ops_test(const struct ftrace_ops *ops, unsigned long ip)
{
	return !ops->nr_functions ||
	       ftrace_find(ops->functions, ops->nr_functions, ops->nr_functions, ip);
}

/* An ops that is removed meanwhile keeps its @next, for CPUs that read it. */
void ftrace_ops_list_func(FTRACE_PARAMETERS)
{
	for (op = READ_ONCE(ftrace_ops_list); op != &ftrace_list_end; op = READ_ONCE(op->next))
		if (ftrace_ops_test(op, ip))
			op->func(FTRACE_ARGUMENTS);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS

struct ftrace_ops ftrace_nop_ops = { .func = (ftrace_func_t)ftrace_stub };
struct ftrace_ops ftrace_list_ops = { .func = ftrace_ops_list_func };

struct ftrace_ops *ftrace_find_unique_ops(struct dyn_ftrace *rec)
{
	struct ftrace_ops *ops, *found = NULL;

	for (ops = ftrace_ops_list; ops != &ftrace_list_end; ops = ops->next) {
		if (!ftrace_ops_test(ops, rec->ip))
			continue;
		if (found)
			return NULL;
		found = ops;
	}
	return found;
}

void ftrace_update_flags(struct dyn_ftrace *rec)
{
	if (ftrace_find_unique_ops(rec))
		rec->flags |= FTRACE_FL_CALL_OPS_EN;
	else
		rec->flags &= ~FTRACE_FL_CALL_OPS_EN;
}

static int update_records(struct dyn_ftrace *records, unsigned long count)
{
	unsigned long i;
	int error = 0;

	for (i = 0; i < count && !error; i++) {
		ftrace_update_flags(&records[i]);
		if (records[i].flags & FTRACE_FL_ENABLED)
			error = ftrace_modify_call(&records[i], FTRACE_ADDR, FTRACE_ADDR);
	}
	return error;
}

int ftrace_run_update_code(void)
{
	const struct module *module;
	int error = update_records(ftrace_records, ftrace_record_count);

	for (module = modules; module && !error; module = module->next)
		error = update_records(module->ftrace_records, module->ftrace_record_count);
	return error;
}

static int update_ftrace_function(void)
{
	int error = ftrace_update_ftrace_func(ftrace_ops_list_func);

	return error ? error : ftrace_run_update_code();
}

#else

/*
 * Set the slot for the current list. From one tracer to another the slot calls
 * ftrace_ops_list_func() in between, which does not use function_trace_op. A CPU that has read that
 * before must not execute the slot afterwards: Linux waits for such CPUs, here the callers ensure
 * it.
 */
static int update_ftrace_function(void)
{
	struct ftrace_ops *first = ftrace_ops_list;
	bool one = first->next == &ftrace_list_end && !first->nr_functions;
	int error;

	if (first == &ftrace_list_end)
		return ftrace_update_ftrace_func((ftrace_func_t)ftrace_stub);
	error = ftrace_update_ftrace_func(ftrace_ops_list_func);
	if (error)
		return error;
	WRITE_ONCE(function_trace_op, one ? first : &ftrace_list_end);
	return one ? ftrace_update_ftrace_func(first->func) : 0;
}

#endif

int register_ftrace_function(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ops->next = ftrace_ops_list;
	__atomic_store_n(&ftrace_ops_list, ops, __ATOMIC_RELEASE);
	return update_ftrace_function();
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	struct ftrace_ops **link = &ftrace_ops_list;

	while (*link != ops) {
		if (*link == &ftrace_list_end)
			return -ENOENT;
		link = &(*link)->next;
	}
	WRITE_ONCE(*link, ops->next);
	ops->flags &= ~(unsigned long)FTRACE_OPS_FL_ENABLED;
	return update_ftrace_function();
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

static void call_direct_funcs(FTRACE_PARAMETERS)
{
	unsigned long address = READ_ONCE(op->direct_call);

	if (address)
		arch_ftrace_set_direct_caller(fregs, address);
}

int register_ftrace_direct(struct ftrace_ops *ops, unsigned long address)
{
	int error;

	if (!address)
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	ops->func = call_direct_funcs;
	WRITE_ONCE(ops->direct_call, address);
	error = register_ftrace_function(ops);
	if (error)
		unregister_ftrace_direct(ops, address);
	return error;
}

int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long address)
{
	if (!address || !ops->direct_call || !(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EINVAL;
	WRITE_ONCE(ops->direct_call, address);
	return 0;
}

int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long address)
{
	int error;

	if (ops->direct_call != address)
		return -EINVAL;
	error = unregister_ftrace_function(ops);
	if (!error)
		WRITE_ONCE(ops->direct_call, 0);
	return error;
}

#endif

#endif
