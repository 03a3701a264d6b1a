// SPDX-License-Identifier: MIT
/* The replacement of return addresses, for the graph tracer. */
#include <asm/ftrace.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>

#include "signed_return.h"

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* C12: see HAVE_FUNCTION_GRAPH_RET_ADDR_PTR in asm/ftrace.h. */
static __always_inline unsigned long *return_address_pointer(unsigned long *parent)
{
#ifdef CC_USING_PATCHABLE_FUNCTION_ENTRY
	return parent + 1;	/* the stub's frame ends with it */
#else
	return parent;
#endif
}

/**
 * prepare_ftrace_return - make a function return to return_to_handler (C4)
 * @parent: address of its return address
 * @self_addr: its call site, rec->ip
 * @frame_pointer: x29 after its return (C6)
 */
void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer);

void prepare_ftrace_return(unsigned long *parent, unsigned long self_addr,
			   unsigned long frame_pointer)
{
	struct return_address address;

	if (!read_return_address(parent, self_addr, &address))
		return;
	if (!function_graph_enter(address.pc, self_addr, frame_pointer,
				  return_address_pointer(parent)))
		*parent = replace_return_address(&address, (unsigned long)return_to_handler);
}

#endif
