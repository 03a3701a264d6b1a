// SPDX-License-Identifier: MIT
/*
 * The graph tracer as a tracer like the others: it is given the registers at the site, and has the
 * traced function return to return_to_handler by the one that holds its return address.
 */
#include <asm/ftrace.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * ftrace_graph_func - make a function return to return_to_handler (C4)
 * @ip: its call site, rec->ip
 * @parent_ip: its return address
 * @op: the graph tracer's
 * @fregs: the registers at the site
 *
 * Its frame record will lie below the stack pointer at the site, which stands for the place of the
 * return address (C12). s0 is the caller's, as it is when the function has returned (C6).
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &fregs->regs;

	if (!function_graph_enter(procedure_link_pointer(regs), ip, frame_pointer(regs),
				  (unsigned long *)kernel_stack_pointer(regs)))
		PT_REG(regs, 1) = (unsigned long)return_to_handler;
}

#endif
