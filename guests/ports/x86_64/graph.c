// SPDX-License-Identifier: MIT
/* Taking the return address of a function that the graph tracer wants to see return. */
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * prepare_ftrace_return() - make a function return to return_to_handler (C4)
 * @parent: where its return address is; the same word identifies it (C12)
 * @self_addr: its call site, rec->ip
 * @frame_pointer: the same place (C6)
 */
void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer);

void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer)
{
	if (!function_graph_enter(*parent, self_addr, frame_pointer, parent))
		*parent = (unsigned long)return_to_handler;
}

#endif
