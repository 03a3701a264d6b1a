/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_H
#define _LINUX_FTRACE_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

struct module;
struct dyn_ftrace;

/* The port's own: MCOUNT_ADDR, ftrace_call_adjust(), struct dyn_arch_ftrace. */
#include <asm/ftrace.h>

/* What the stub hands to a tracer. Linux's order, not the specification's: ip, then parent_ip. */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) || defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define FTRACE_WITH_OPS
struct ftrace_ops;
struct ftrace_regs;
#define FTRACE_PARAMETERS	unsigned long ip, unsigned long parent_ip,	\
				struct ftrace_ops *op, struct ftrace_regs *fregs
#define FTRACE_ARGUMENTS	ip, parent_ip, op, fregs
#else
#define FTRACE_PARAMETERS	unsigned long ip, unsigned long parent_ip
#define FTRACE_ARGUMENTS	ip, parent_ip
#endif

typedef void (*ftrace_func_t)(FTRACE_PARAMETERS);

#ifdef CONFIG_DYNAMIC_FTRACE
/*
 * The site is on. Written by the code that switches it; read with DYNAMIC_FTRACE_WITH_CALL_OPS, to
 * change the ops of sites.
 */
#define FTRACE_FL_ENABLED	(1ul << 0)

/*
 * The site has exactly one tracer: ftrace_find_unique_ops() is not NULL. For ports; see
 * ftrace_ops.h.
 */
#define FTRACE_FL_CALL_OPS_EN	(1ul << 1)

/**
 * struct dyn_ftrace - one call site
 * @ip:		the address to patch
 * @flags:	FTRACE_FL_*
 * @arch:	the port's own data
 */
struct dyn_ftrace {
	unsigned long ip;
	unsigned long flags;
	struct dyn_arch_ftrace arch;
};
#endif

/* The table of call sites, made by the build; in static ports only for the debugger. */
extern const unsigned long __start_mcount_loc[], __stop_mcount_loc[];

/* All call sites of the kernel, by address. */
extern struct dyn_ftrace *ftrace_records;
extern unsigned long ftrace_record_count;

/**
 * ftrace_init - initialise the port and disable every call site
 *
 * In a static port nothing is disabled: _mcount tests the pointers below.
 */
void ftrace_init(void);

/**
 * ftrace_module_init - disable every call site of a module and create its records, behind its end
 *
 * Return: 0, -ENOMEM if there is no room for the records, or the port's error.
 */
int ftrace_module_init(struct module *module);

/** ftrace_release_mod - remove the records of a module */
void ftrace_release_mod(struct module *module);
/** ftrace_replace_code - enable or disable every call site, up to the port's first error */
int ftrace_replace_code(int enable);

/*
 * The tracer of a static port, ftrace_stub for none. A dynamic port has the slot at ftrace_call
 * instead.
 */
extern ftrace_func_t ftrace_trace_function;

#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
/* Not 0: _mcount returns at once. */
extern int function_trace_stop;
#endif

/** function_trace_call - the function tracer: write one "function" event */
void function_trace_call(FTRACE_PARAMETERS);

/** function_stack_trace_call - the same, with a kernel_stack event after each */
void function_stack_trace_call(FTRACE_PARAMETERS);

/** function_trigger_call - the tracer function if there are triggers, or with the stack tracer */
void function_trigger_call(FTRACE_PARAMETERS);

/** irqsoff_tracer_call - the irqsoff tracer's: an event for a function in a section */
void irqsoff_tracer_call(FTRACE_PARAMETERS);

struct thread_info;

/** ftrace_init_thread - initialise tracing of a new thread, which has its pid */
void ftrace_init_thread(struct thread_info *thread);

/* Provided by the port. Patching functions return 0 or a negative error number. */
void ftrace_caller(void);
void ftrace_call(void);
void ftrace_stub(void);
int ftrace_dyn_arch_init(void);
int ftrace_make_nop(struct module *module, struct dyn_ftrace *rec, unsigned long address);
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long address);
int ftrace_update_ftrace_func(ftrace_func_t function);

#define FTRACE_ADDR		((unsigned long)ftrace_caller)

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) || defined(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS)
/* The change of a site that is on from one stub to the other, or to another ops. */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_address, unsigned long address);
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
/* The stub that saves all registers. */
void ftrace_regs_caller(void);

#define FTRACE_REGS_ADDR	((unsigned long)ftrace_regs_caller)
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#define FTRACE_RETFUNC_DEPTH	50

/**
 * struct ftrace_graph_ent - the entry of a function whose return will be traced
 * @func:	its call site
 * @depth:	number of its traced callers
 */
struct ftrace_graph_ent {
	unsigned long func;
	int depth;
};

/**
 * struct ftrace_graph_ret - the return of a traced function
 * @func:	its call site
 * @depth:	number of its traced callers
 * @overrun:	functions not traced so far because they were too deep
 * @calltime:	time of the entry, in ns
 * @rettime:	time of the return; set by the tracer
 */
struct ftrace_graph_ret {
	unsigned long func;
	int depth;
	unsigned int overrun;
	unsigned long long calltime;
	unsigned long long rettime;
};

/* Not 0: trace this function and its return. */
typedef int (*trace_func_graph_ent_t)(struct ftrace_graph_ent *trace);
typedef void (*trace_func_graph_ret_t)(struct ftrace_graph_ret *trace);

/* The graph tracer's callbacks; ftrace_graph_entry_stub and ftrace_stub for none. */
extern trace_func_graph_ent_t ftrace_graph_entry;
extern trace_func_graph_ret_t ftrace_graph_return;

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace);

/* The graph tracer: "funcgraph_entry" and "funcgraph_exit" events. */
int trace_graph_entry(struct ftrace_graph_ent *trace);
void trace_graph_return(struct ftrace_graph_ret *trace);

#define FTRACE_GRAPH_MAX_FUNCS	256

/**
 * struct ftrace_graph_control - limits and filters of the graph tracer; written by the debugger
 * @max_depth:		maximum depth of traced functions; 0: no limit
 * @nr_functions:	entries in @functions; 0: every function
 * @nr_notrace:		entries in @notrace_functions
 * @tracing_thresh:	ns; not 0: record only exits of calls that took at least this long
 * @functions:		sorted: trace only these functions and their callees
 * @notrace_functions:	sorted: do not trace these functions and their callees
 *
 * The functions are call sites, as in the table of call sites.
 */
struct ftrace_graph_control {
	u32 max_depth;
	u32 nr_functions;
	u32 nr_notrace;
	u64 tracing_thresh;
	unsigned long functions[FTRACE_GRAPH_MAX_FUNCS];
	unsigned long notrace_functions[FTRACE_GRAPH_MAX_FUNCS];
};

extern struct ftrace_graph_control ftrace_graph_control;

void ftrace_graph_init(void);

/** ftrace_graph_arch_init - the port's initialisation at boot; optional */
void ftrace_graph_arch_init(void);

/** ftrace_graph_module_init - the same when a module is loaded; may use module_memory() */
int ftrace_graph_module_init(struct module *module);

/**
 * struct ftrace_ret_stack - a return address replaced by the graph tracer
 * @ret:	the original return address
 * @func:	its call site
 * @calltime:	time of the entry, in ns; set by the tracer
 * @flags:	the tracer's own
 * @fp:		a value that is checked at the return
 * @retp:	address of the replaced return address
 * @retval:	the function's result, when it has returned
 */
struct ftrace_ret_stack {
	unsigned long ret;
	unsigned long func;
	u64 calltime;
	unsigned long flags;
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	unsigned long fp;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
	unsigned long *retp;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	unsigned long retval;
#endif
};

extern struct ftrace_ret_stack init_ret_stack[FTRACE_RETFUNC_DEPTH];

/**
 * function_graph_enter - save a return address that will be replaced
 * @ret:		the return address
 * @func:		the call site, as in the table of call sites
 * @frame_pointer:	the argument of ftrace_return_to_handler() (CONFIG_FUNCTION_GRAPH_FP_TEST)
 * @retp:		address of the return address (CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR)
 *
 * Return: 0: replace the return address by return_to_handler; -EBUSY: do not.
 */
int function_graph_enter(unsigned long ret, unsigned long func, unsigned long frame_pointer,
			 unsigned long *retp);

/**
 * ftrace_return_to_handler - called by return_to_handler
 * @frame_pointer:	the argument of function_graph_enter()
 * @fregs:		with CONFIG_FUNCTION_GRAPH_FREGS in its stead: of it
 *			ftrace_regs_get_frame_pointer() and ftrace_regs_get_return_value() are used
 *
 * Return: the original return address.
 */
#ifdef CONFIG_FUNCTION_GRAPH_FREGS
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs);
#else
unsigned long ftrace_return_to_handler(unsigned long frame_pointer);
#endif

/**
 * ftrace_graph_ret_addr - the original of a return address found by an unwinder
 * @thread:	the owner of the stack
 * @index:	the unwinder's index in the thread's ret_stack; initially 0
 * @ret:	the address found
 * @retp:	its address; if in a register: the stack pointer at the function's entry
 *
 * Return: @ret, or the original return address.
 */
unsigned long ftrace_graph_ret_addr(const struct thread_info *thread, int *index,
				    unsigned long ret, unsigned long *retp);

/* Provided by the port. */
void return_to_handler(void);
#ifdef FTRACE_WITH_OPS
/* The graph tracer as the func of an ops; ports without it have a slot for it, as those below. */
void ftrace_graph_func(FTRACE_PARAMETERS);
#endif
/* With the slot at ftrace_graph_call, and its patching functions, if dynamic. */
void ftrace_graph_caller(void);
int ftrace_enable_ftrace_graph_caller(void);
int ftrace_disable_ftrace_graph_caller(void);

#endif

#ifndef CONFIG_FUNCTION_GRAPH_TRACER
static inline void ftrace_graph_init(void)
{
}

static inline unsigned long ftrace_graph_ret_addr(const struct thread_info *thread, int *index,
						  unsigned long ret, unsigned long *retp)
{
	return ret;
}

static inline int ftrace_graph_module_init(struct module *module)
{
	return 0;
}
#endif

#ifdef FTRACE_WITH_OPS
#include <linux/ftrace_ops.h>
#endif

/* For ports whose sites are no calls as built. */
#if defined(CONFIG_DYNAMIC_FTRACE) && !defined(ftrace_init_nop)
static inline int ftrace_init_nop(struct module *module, struct dyn_ftrace *rec)
{
	return ftrace_make_nop(module, rec, MCOUNT_ADDR);
}
#endif

#endif
