/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_OPS_H
#define _LINUX_FTRACE_OPS_H

/*
 * Tracers of ports with one slot (DYNAMIC_FTRACE_WITH_ARGS, DYNAMIC_FTRACE_WITH_REGS). Each is a
 * struct ftrace_ops. The stub calls the function in its slot with the address of the call site, the
 * return address of the traced function, the ops that function_trace_op points to, and the
 * registers at the site. With one ops the slot calls its function, with several of them
 * ftrace_ops_list_func().
 *
 * Included by linux/ftrace.h. With DYNAMIC_FTRACE_WITH_ARGS the port's asm/ftrace.h defines struct
 * ftrace_regs and, inline:
 *
 *	ftrace_regs_get_instruction_pointer(fregs)	where the function continues after the site
 *	ftrace_regs_set_instruction_pointer(fregs, ip)
 *	ftrace_regs_get_argument(fregs, n)		the arguments in registers, from 0 on
 *	ftrace_regs_get_return_address(fregs)		where the function will return to
 *	ftrace_regs_get_stack_pointer(fregs)		at the site
 *	ftrace_regs_get_frame_pointer(fregs)
 *	ftrace_regs_get_return_value(fregs)
 *	ftrace_regs_set_return_value(fregs, value)
 *	ftrace_override_function_with_return(fregs)	the function returns at once
 *
 * and with DYNAMIC_FTRACE_WITH_REGS too
 *
 *	arch_ftrace_get_regs(fregs)		struct pt_regs, as at a breakpoint on the site;
 *						NULL at sites that do not call ftrace_regs_caller
 */

#ifndef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#include <linux/ftrace_pt_regs.h>
#endif

#ifdef HAVE_ARCH_FTRACE_REGS
/* Linux's own ports leave it incomplete, for accessors alone. */
struct ftrace_regs {
	struct __arch_ftrace_regs regs;
};
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#define ftrace_get_regs(fregs)	arch_ftrace_get_regs(fregs)
#else
#define ftrace_get_regs(fregs)	((struct pt_regs *)NULL)
#endif

/* The arguments that the function tracer records with the option func-args, as in Linux. */
#define FTRACE_REGS_MAX_ARGS	6

/** function_args_trace_call - the function tracer: an event with the function's arguments */
void function_args_trace_call(FTRACE_PARAMETERS);

/* In ftrace_ops_list. */
#define FTRACE_OPS_FL_ENABLED	(1 << 0)

/**
 * struct ftrace_ops - a tracer
 * @func:		called at the entry of traced functions
 * @next:		the next one in ftrace_ops_list
 * @flags:		FTRACE_OPS_FL_*
 * @nr_functions:	entries in @functions; 0: all functions with a site that is on
 * @functions:		sorted: the addresses of the call sites that it is for
 * @private:		for @func
 * @direct_call:	a trampoline to which the stub jumps in place of the function; 0: none
 */
struct ftrace_ops {
	ftrace_func_t func;
	struct ftrace_ops *next;
	unsigned long flags;
	u32 nr_functions;
	const unsigned long *functions;
	void *private;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	unsigned long direct_call;
#endif
};

/* All tracers that are on, the newest first, up to ftrace_list_end. */
extern struct ftrace_ops *ftrace_ops_list;
extern struct ftrace_ops ftrace_list_end;

/* The op that the port's stub passes; read it before the call in the slot. */
extern struct ftrace_ops *function_trace_op;

/* The tracers that the debugger switches: a tracer of functions, and the graph tracer. */
extern struct ftrace_ops global_ops;
extern struct ftrace_ops graph_ops;

/** ftrace_ops_list_func - call each tracer of the list that is for this site, with its own ops */
void ftrace_ops_list_func(FTRACE_PARAMETERS);

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/*
 * Each site has a literal in front of its function, with the ops that its stub passes and whose
 * function it calls. There is no slot, and function_trace_op is not used.
 */

/* For the port: the literal of a site that is off, or that has not exactly one tracer. */
extern struct ftrace_ops ftrace_nop_ops;
extern struct ftrace_ops ftrace_list_ops;

/** ftrace_find_unique_ops - the only active tracer of this site; NULL for none or several */
struct ftrace_ops *ftrace_find_unique_ops(struct dyn_ftrace *rec);

/**
 * ftrace_run_update_code - let the port write the ops of every site that is on again
 *
 * For sites with FTRACE_FL_ENABLED, after a change of ftrace_ops_list. It updates
 * FTRACE_FL_CALL_OPS_EN in all records. Return: 0, or the first error of the port's
 * ftrace_modify_call(), at which it stops.
 */
int ftrace_run_update_code(void);

/** ftrace_update_flags - set or clear FTRACE_FL_CALL_OPS_EN of a record, by ftrace_ops_list */
void ftrace_update_flags(struct dyn_ftrace *rec);
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/*
 * The stub jumps to a trampoline as if the site had called it: at once if its ops is the site's own
 * (early), or after the list function has called all tracers of the site (late). In the late case
 * the function of the ops has called arch_ftrace_set_direct_caller(fregs, address) of the port's
 * asm/ftrace.h.
 */

/**
 * register_ftrace_direct - let the call sites of an ops call a trampoline
 * @ops:	an ops that is off; its func is set
 * @address:	the trampoline
 *
 * Return: 0, -EBUSY if the ops is on, -EINVAL without an address, or the port's error.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long address);

/**
 * modify_ftrace_direct - change the trampoline of an ops
 * @ops:	an ops that is on, with a trampoline
 * @address:	the new one
 *
 * A CPU in the stub jumps to the old one or to the new one. Return: 0, -EINVAL.
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long address);

/** unregister_ftrace_direct - remove it; returns 0, -ENOENT, -EINVAL for another address */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long address);
#endif

/**
 * register_ftrace_function - switch a tracer on; its call sites are switched by the debugger
 *
 * Return: 0, -EBUSY if it is on, or the error of the port's ftrace_update_ftrace_func().
 */
int register_ftrace_function(struct ftrace_ops *ops);

/**
 * unregister_ftrace_function - switch a tracer off
 *
 * Return: 0, -ENOENT if it is not on, or the port's error.
 */
int unregister_ftrace_function(struct ftrace_ops *ops);

#endif
