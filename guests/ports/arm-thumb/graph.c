// SPDX-License-Identifier: MIT
/* The replacement of return addresses, for the graph tracer. */
#include <asm/ftrace.h>
#include <asm/stacktrace.h>
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * prepare_ftrace_return - make a function return to return_to_handler (C4)
 * @parent: address of the word pushed by its site: its return address, unless it has stored that
 * @self_addr: its call site, rec->ip
 * @frame_pointer: its r7
 *
 * A function that calls others returns to the address stored by its prologue, whose location is
 * only in the tables. A leaf function returns to lr, which the site loads with the pushed word.
 */
void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer);

void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer)
{
	struct stackframe frame = {
		.fp = frame_pointer,
		.sp = (unsigned long)(parent + 1),
		.lr = *parent,
		.pc = self_addr,
		.lr_addr = parent,
	};
	unsigned long *retp;

	if (unwind_frame(&frame))
		return;
	/* C12: the return address is in the frame or in lr. */
	retp = frame.lr_addr == parent ? (unsigned long *)frame.sp : frame.lr_addr;
	/* C6: sp after its return. */
	if (!function_graph_enter(*frame.lr_addr, self_addr, frame.sp, retp))
		*frame.lr_addr = (unsigned long)return_to_handler;
}

#endif
