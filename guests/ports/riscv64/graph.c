// SPDX-License-Identifier: MIT
/* The replacement of return addresses, for the graph tracer. */
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * prepare_ftrace_return() - make a function return to return_to_handler (C4)
 * @parent: address of its return address
 * @self_addr: its call site, rec->ip
 * @frame_pointer: s0 after its return (C6)
 */
void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer);

void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer)
{
	unsigned long *retp = parent;

#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	/* C12: it is in no frame yet. sp stands for it: the stub's frame ends behind @parent. */
	retp = parent + 1;
#endif
	if (!function_graph_enter(*parent, self_addr, frame_pointer, retp))
		*parent = (unsigned long)return_to_handler;
}

#endif
