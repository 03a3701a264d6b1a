// SPDX-License-Identifier: MIT
/*
 * The return addresses that the graph tracer has replaced by return_to_handler, one stack per
 * thread. An interrupt may come anywhere here: what it pushes it has popped when it returns.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/sched.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

struct ftrace_ret_stack init_ret_stack[FTRACE_RETFUNC_DEPTH];

trace_func_graph_ent_t ftrace_graph_entry = ftrace_graph_entry_stub;
trace_func_graph_ret_t ftrace_graph_return = (trace_func_graph_ret_t)ftrace_stub;

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace)
{
	return 0;
}

int function_graph_enter(unsigned long ret, unsigned long func, unsigned long frame_pointer,
			 unsigned long *retp)
{
	struct thread_info *thread = current;
	struct ftrace_ret_stack *entry;
	struct ftrace_graph_ent trace;
	int index = thread->curr_ret_stack + 1;

	if (unlikely(index >= FTRACE_RETFUNC_DEPTH)) {
		thread->trace_overrun++;
		return -EBUSY;
	}
	/* The place first, then what belongs there: an interrupt would use the same one. */
	thread->curr_ret_stack = index;
	barrier();
	entry = &thread->ret_stack[index];
	entry->ret = ret;
	entry->func = func;
	entry->flags = 0;
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	entry->fp = frame_pointer;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
	entry->retp = retp;
#endif
	trace.func = func;
	trace.depth = index;
	if (likely(ftrace_graph_entry(&trace)))
		return 0;
	thread->curr_ret_stack = index - 1;
	return -EBUSY;
}

unsigned long ftrace_return_to_handler(unsigned long frame_pointer)
{
	struct thread_info *thread = current;
	int index = thread->curr_ret_stack;
	struct ftrace_ret_stack *entry;
	unsigned long ret;

	if (unlikely(index < 0))
		panic("return_to_handler: no function was to return here");
	entry = &thread->ret_stack[index];
	ret = entry->ret;
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	if (unlikely(entry->fp != frame_pointer))
		panic("Bad frame pointer: expected %#lx, received %#lx; the function at %#lx"
		      " was to return to %#lx", entry->fp, frame_pointer, entry->func, ret);
#endif
	if (likely(ftrace_graph_return != (trace_func_graph_ret_t)ftrace_stub)) {
		struct ftrace_graph_ret trace;

		trace.func = entry->func;
		trace.depth = index;
		trace.overrun = thread->trace_overrun;
		trace.calltime = entry->calltime;
		ftrace_graph_return(&trace);
	}
	/* Last: an interrupt would write over the entry. */
	barrier();
	thread->curr_ret_stack = index - 1;
	return ret;
}

unsigned long ftrace_graph_ret_addr(int *index, unsigned long ret, unsigned long *retp)
{
	const struct thread_info *thread = current;
	int i;

	if (ret != (unsigned long)return_to_handler)
		return ret;
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
	for (i = thread->curr_ret_stack; i >= 0; i--)
		if (thread->ret_stack[i].retp == retp)
			return thread->ret_stack[i].ret;
	return ret;
#else
	/* The unwinder meets them in the order in which they were pushed, newest first. */
	i = thread->curr_ret_stack - *index;
	if (i < 0)
		return ret;
	++*index;
	return thread->ret_stack[i].ret;
#endif
}

#endif
