/* SPDX-License-Identifier: MIT */
#ifndef _LINUX_FTRACE_H
#define _LINUX_FTRACE_H

#include <linux/compiler.h>
#include <linux/types.h>

/* The port's own: MCOUNT_ADDR, ftrace_call_adjust(), struct dyn_arch_ftrace. */
#include <asm/ftrace.h>

struct module;

/* Linux's argument order, not the specification's: where the event is, then who called. */
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip);

#ifdef CONFIG_DYNAMIC_FTRACE
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
#endif

struct dyn_ftrace;

/* The table of call sites, as the build wrote it; in static ports it is there for the debugger. */
extern const unsigned long __start_mcount_loc[], __stop_mcount_loc[];

/* Every call site of the kernel, in the order of the addresses. */
extern struct dyn_ftrace *ftrace_records;
extern unsigned long ftrace_record_count;

/**
 * ftrace_init - let the port prepare itself and turn every call site off
 *
 * A static port has nothing to turn off: its _mcount looks at the pointers below.
 */
void ftrace_init(void);

/**
 * ftrace_module_init - turn every call site of a module off and make its records, behind its end
 *
 * Return: 0, -ENOMEM if there is no room for the records, or the port's error.
 */
int ftrace_module_init(struct module *module);

/** ftrace_release_mod - forget the call sites of a module */
void ftrace_release_mod(struct module *module);
/** ftrace_replace_code - switch every call site on or off; the first error of the port's ends it */
int ftrace_replace_code(int enable);

/*
 * The tracer of a static port; ftrace_stub stands for none. In a dynamic port the slot at
 * ftrace_call says the same.
 */
extern ftrace_func_t ftrace_trace_function;

#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST
/* Not 0: _mcount returns before it looks at anything else. */
extern int function_trace_stop;
#endif

/** function_trace_call - the function tracer: write one "function" event */
void function_trace_call(unsigned long ip, unsigned long parent_ip);

/** function_stack_trace_call - the same, with a kernel_stack event behind each */
void function_stack_trace_call(unsigned long ip, unsigned long parent_ip);

struct thread_info;

/** ftrace_init_thread - what tracing wants of a thread that is new and has its pid */
void ftrace_init_thread(struct thread_info *thread);

/* Given by the port. The functions that patch return 0 or a negative error number. */
void ftrace_caller(void);
void ftrace_call(void);
void ftrace_stub(void);
int ftrace_dyn_arch_init(void);
int ftrace_make_nop(struct module *module, struct dyn_ftrace *rec, unsigned long address);
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long address);
int ftrace_update_ftrace_func(ftrace_func_t function);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#define FTRACE_RETFUNC_DEPTH	50

/**
 * struct ftrace_graph_ent - a function that is about to be hijacked
 * @func:	its call site
 * @depth:	how many hijacked functions it is called from
 */
struct ftrace_graph_ent {
	unsigned long func;
	int depth;
};

/**
 * struct ftrace_graph_ret - a hijacked function that returns
 * @func:	its call site
 * @depth:	how many hijacked functions it was called from
 * @overrun:	functions that were left alone so far because they lay too deep
 * @calltime:	when it was entered, in ns
 * @rettime:	when it returned; for the tracer to set
 */
struct ftrace_graph_ret {
	unsigned long func;
	int depth;
	unsigned int overrun;
	unsigned long long calltime;
	unsigned long long rettime;
};

/* Not 0: trace this function, so that its return is reported as well. */
typedef int (*trace_func_graph_ent_t)(struct ftrace_graph_ent *trace);
typedef void (*trace_func_graph_ret_t)(struct ftrace_graph_ret *trace);

/* The graph tracer's two halves; ftrace_graph_entry_stub and ftrace_stub stand for none. */
extern trace_func_graph_ent_t ftrace_graph_entry;
extern trace_func_graph_ret_t ftrace_graph_return;

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace);

/* The graph tracer: "funcgraph_entry" and "funcgraph_exit" events. */
int trace_graph_entry(struct ftrace_graph_ent *trace);
void trace_graph_return(struct ftrace_graph_ret *trace);

#define FTRACE_GRAPH_MAX_FUNCS	256

/**
 * struct ftrace_graph_control - what the graph tracer leaves out; written by the debugger
 * @max_depth:		functions that lie deeper are left alone; 0: no limit
 * @nr_functions:	entries in @functions; 0: every function
 * @nr_notrace:		entries in @notrace_functions
 * @tracing_thresh:	ns; not 0: only the exits of calls that took at least so long are events
 * @functions:		sorted: only these functions, and what they call
 * @notrace_functions:	likewise: not these functions, nor what they call
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

/** ftrace_graph_arch_init - what a port wants to do at boot; it need not have one */
void ftrace_graph_arch_init(void);

/** ftrace_graph_module_init - the same for a module that is loaded; may take memory at its end */
int ftrace_graph_module_init(struct module *module);

/**
 * struct ftrace_ret_stack - what a hijacked function has to return to
 * @ret:	its return address
 * @func:	its call site
 * @calltime:	when it was entered, in ns; set by the tracer
 * @flags:	the tracer's own
 * @fp:		a value that has to come back when it returns
 * @retp:	where the hijacked return address lies
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
};

extern struct ftrace_ret_stack init_ret_stack[FTRACE_RETFUNC_DEPTH];

/**
 * function_graph_enter - remember a return address that is about to be replaced
 * @ret:		the return address
 * @func:		the call site, as in the table of call sites
 * @frame_pointer:	what ftrace_return_to_handler() will get (CONFIG_FUNCTION_GRAPH_FP_TEST)
 * @retp:		where the return address lies (CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR)
 *
 * Return: 0, and the port puts return_to_handler there; or -EBUSY, and it must not.
 */
int function_graph_enter(unsigned long ret, unsigned long func, unsigned long frame_pointer,
			 unsigned long *retp);

/**
 * ftrace_return_to_handler - a hijacked function has come to return_to_handler
 * @frame_pointer:	the value that function_graph_enter() was given for it
 *
 * Return: where it has to return to.
 */
unsigned long ftrace_return_to_handler(unsigned long frame_pointer);

/**
 * ftrace_graph_ret_addr - what an unwinder should take for a return address that it has found
 * @thread:	whose stack it is
 * @index:	the unwinder's place among the thread's hijacked addresses; 0 at first
 * @ret:	the address found
 * @retp:	where it was found; in a register: the stack pointer when the function was entered
 *
 * Return: @ret, or where return_to_handler would go from there.
 */
unsigned long ftrace_graph_ret_addr(const struct thread_info *thread, int *index,
				    unsigned long ret, unsigned long *retp);

/* Given by the port; the slot at ftrace_graph_call and what patches it only in dynamic ones. */
void ftrace_graph_caller(void);
void return_to_handler(void);
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

/* A port whose sites are not calls when they leave the compiler has its own. */
#ifndef ftrace_init_nop
static inline int ftrace_init_nop(struct module *module, struct dyn_ftrace *rec)
{
	return ftrace_make_nop(module, rec, MCOUNT_ADDR);
}
#endif

#endif
