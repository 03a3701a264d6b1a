// SPDX-License-Identifier: MIT
/*
 * The return addresses that the graph tracer has replaced by return_to_handler, one stack per
 * thread. An interrupt may come anywhere here: what it pushes it has popped when it returns.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/unwind.h>


#ifdef CONFIG_FUNCTION_GRAPH_TRACER

#include <linux/function_profile.h>

#include "trace_functions_graph.h"

struct ftrace_ret_stack init_ret_stack[FTRACE_RETFUNC_DEPTH];

trace_func_graph_ent_t ftrace_graph_entry = ftrace_graph_entry_stub;
trace_func_graph_ret_t ftrace_graph_return = (trace_func_graph_ret_t)ftrace_stub;

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace)
{
	return 0;
}

/* Reserve the entry before filling it: an interrupt would use the same one. */
static __always_inline struct ftrace_ret_stack *
push_return_trace(struct thread_info *thread, int index, unsigned long ret, unsigned long func,
		  unsigned long frame_pointer, unsigned long *retp)
{
	struct ftrace_ret_stack *entry = &thread->ret_stack[index];

	thread->curr_ret_stack = index;
	barrier();
	entry->ret = ret;
	entry->func = func;
	entry->flags = 0;
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	entry->fp = frame_pointer;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
	entry->retp = retp;
#endif
	return entry;
}

/*
 * The rest of function_graph_enter() for another tracer, which was read before. Our own tracer, if
 * enabled meanwhile, would not expect interrupts here.
 */
static noinline int call_graph_entry(unsigned long func, trace_func_graph_ent_t tracer)
{
	struct thread_info *thread = current;
	struct ftrace_graph_ent trace = { .func = func, .depth = thread->curr_ret_stack };

	if (tracer(&trace))
		return 0;
	thread->curr_ret_stack--;
	return -EBUSY;
}

/* The end of both slow paths: a function that is not traced needs no entry. */
static __always_inline int graph_entered(struct thread_info *thread, bool hijack,
					 unsigned long flags)
{
	int error = 0;

	if (!hijack) {
		thread->curr_ret_stack--;
		error = -EBUSY;
	}
	raw_local_irq_restore(flags);
	return error;
}

/* The slow path for our own tracer. */
static noinline int graph_enter_slow(unsigned long func, unsigned long flags)
{
	struct thread_info *thread = current;
	bool hijack = graph_entry_slow(func, thread->curr_ret_stack, flags);

	return graph_entered(thread, hijack, flags);
}

/* Or if its page is full. */
static noinline int graph_enter_new_page(unsigned long func, unsigned long flags)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	int index = thread->curr_ret_stack;
	struct ring_buffer_event event;
	bool hijack = ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ent_entry), &event);

	if (hijack)
		graph_entry_event(cpu, &event, thread, &thread->ret_stack[index], func, index,
				  flags);
	return graph_entered(thread, hijack, flags);
}

/* The profiler counts all calls. */
static noinline int graph_too_deep(unsigned long func, trace_func_graph_ent_t tracer)
{
	current->trace_overrun++;
	if (tracer == profile_graph_entry)
		function_profile_count(func);
	return -EBUSY;
}

/*
 * With interrupts disabled from the reservation of the entry to the event: an interrupt's functions
 * are either after the event and deeper, or before it.
 */
int function_graph_enter(unsigned long ret, unsigned long func, unsigned long frame_pointer,
			 unsigned long *retp)
{
	struct thread_info *thread = current;
	struct ftrace_ret_stack *entry;
	int index = thread->curr_ret_stack + 1;
	trace_func_graph_ent_t tracer = READ_ONCE(ftrace_graph_entry);
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	unsigned long flags;

	if (unlikely(graph_entry_refuses(thread)) && tracer == trace_graph_entry)
		return -EBUSY;
	if (unlikely(index >= FTRACE_RETFUNC_DEPTH))
		return graph_too_deep(func, tracer);
	if (unlikely(tracer != trace_graph_entry)) {
		push_return_trace(thread, index, ret, func, frame_pointer, retp);
		return call_graph_entry(func, tracer);
	}
	raw_local_irq_save(flags);
	entry = push_return_trace(thread, index, ret, func, frame_pointer, retp);
	cpu = ring_buffer_this_cpu();
	if (unlikely(graph_entry_is_unusual(cpu)))
		return graph_enter_slow(func, flags);
	if (unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_graph_ent_entry), &event)))
		return graph_enter_new_page(func, flags);
	graph_entry_event(cpu, &event, thread, entry, func, index, flags);
	raw_local_irq_restore(flags);
	return 0;
}

/* Returns nothing, for a tail call without a stack frame. */
static noinline unsigned long bad_return(const struct ftrace_ret_stack *entry,
					 unsigned long frame_pointer)
{
	if (!entry)
		panic("return_to_handler: no function was to return here");
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	panic("Bad frame pointer: expected %#lx, received %#lx; the function called at %#lx was"
	      " to return to %#lx", entry->fp, frame_pointer, entry->func, entry->ret);
#endif
	return 0;
}

/* An interrupt may write over the entry from here on. */
static __always_inline unsigned long pop_return_trace(struct thread_info *thread,
						      const struct ftrace_ret_stack *entry,
						      int index)
{
	unsigned long ret = entry->ret;

	barrier();
	thread->curr_ret_stack = index - 1;
	return ret;
}

/* With interrupts disabled until then, so that the event and the entry agree. */
static __always_inline unsigned long graph_left(struct thread_info *thread,
						const struct ftrace_ret_stack *entry, int index,
						unsigned long flags)
{
	unsigned long ret = pop_return_trace(thread, entry, index);

	raw_local_irq_restore(flags);
	return ret;
}

/* The slow paths of ftrace_return_to_handler(), as above. */
static noinline unsigned long call_graph_return(trace_func_graph_ret_t tracer)
{
	struct thread_info *thread = current;
	const struct ftrace_ret_stack *entry = &thread->ret_stack[thread->curr_ret_stack];
	struct ftrace_graph_ret trace = {
		.func = entry->func,
		.depth = thread->curr_ret_stack,
		.overrun = thread->trace_overrun,
		.calltime = entry->calltime,
	};

	tracer(&trace);
	return pop_return_trace(thread, entry, trace.depth);
}

/* The tracer has been switched off since the function was entered. */
static noinline unsigned long graph_leave_untraced(void)
{
	struct thread_info *thread = current;
	int index = thread->curr_ret_stack;
	unsigned long flags;

	raw_local_irq_save(flags);
	return graph_left(thread, &thread->ret_stack[index], index, flags);
}

static noinline unsigned long graph_leave_slow(unsigned long flags)
{
	struct thread_info *thread = current;
	int index = thread->curr_ret_stack;

	graph_return_slow(index, flags);
	return graph_left(thread, &thread->ret_stack[index], index, flags);
}

static noinline unsigned long graph_leave_new_page(unsigned long flags)
{
	struct thread_info *thread = current;
	struct ring_buffer_per_cpu *cpu = ring_buffer_this_cpu();
	int index = thread->curr_ret_stack;
	const struct ftrace_ret_stack *entry = &thread->ret_stack[index];
	struct ring_buffer_event event;

	if (ring_buffer_reserve(cpu, sizeof(struct ftrace_graph_ret_entry), &event))
		graph_return_event(cpu, &event, thread, entry, index, flags);
	return graph_left(thread, entry, index, flags);
}

#ifdef CONFIG_FUNCTION_GRAPH_FREGS
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs)
#else
unsigned long ftrace_return_to_handler(unsigned long frame_pointer)
#endif
{
#ifdef CONFIG_FUNCTION_GRAPH_FREGS
	unsigned long frame_pointer = ftrace_regs_get_frame_pointer(fregs);
#endif
	struct thread_info *thread = current;
	struct ftrace_ret_stack *entry;
	struct ring_buffer_per_cpu *cpu;
	struct ring_buffer_event event;
	trace_func_graph_ret_t tracer;
	int index = thread->curr_ret_stack;
	unsigned long flags;

	if (unlikely(index < 0))
		return bad_return(NULL, frame_pointer);
	entry = &thread->ret_stack[index];
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
	if (unlikely(entry->fp != frame_pointer))
		return bad_return(entry, frame_pointer);
#endif
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	entry->retval = ftrace_regs_get_return_value(fregs);
#endif
	tracer = READ_ONCE(ftrace_graph_return);
	if (unlikely(tracer != trace_graph_return)) {
		if (tracer == (trace_func_graph_ret_t)ftrace_stub)
			return graph_leave_untraced();
		return call_graph_return(tracer);
	}
	raw_local_irq_save(flags);
	cpu = ring_buffer_this_cpu();
	if (unlikely(graph_return_is_unusual(thread, entry, cpu)))
		return graph_leave_slow(flags);
	if (unlikely(!ring_buffer_try_reserve(cpu, sizeof(struct ftrace_graph_ret_entry), &event)))
		return graph_leave_new_page(flags);
	graph_return_event(cpu, &event, thread, entry, index, flags);
	return graph_left(thread, entry, index, flags);
}

/*
 * A function that was tail-called by a traced one has return_to_handler as its return address: the
 * original one is further down.
 */
unsigned long ftrace_graph_ret_addr(const struct thread_info *thread, int *index,
				    unsigned long ret, unsigned long *retp)
{
	const struct ftrace_ret_stack *entry;
	int i;

	if (unwind_strip(ret) != unwind_strip((unsigned long)return_to_handler))
		return ret;
	ret = (unsigned long)return_to_handler;
#ifdef CONFIG_FUNCTION_GRAPH_RET_ADDR_PTR
	/*
	 * Oldest first: the newest entry may not be filled in yet, and tail calls share an address.
	 */
	for (i = 0; i <= thread->curr_ret_stack; i++) {
		entry = &thread->ret_stack[i];
		if (entry->retp == retp && entry->ret != ret)
			return entry->ret;
	}
	/* A register: the port replaced a copy in its own frame, below that of the function. */
	for (i = 0; i <= thread->curr_ret_stack; i++) {
		entry = &thread->ret_stack[i];
		if (entry->retp < retp && entry->ret != ret)
			return entry->ret;
	}
#else
	/* The unwinder finds them newest first. */
	for (i = thread->curr_ret_stack - *index; i >= 0; i--) {
		entry = &thread->ret_stack[i];
		++*index;
		if (entry->ret != ret)
			return entry->ret;
	}
#endif
	return ret;
}

#endif
