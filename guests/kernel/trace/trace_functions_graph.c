// SPDX-License-Identifier: MIT
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

int trace_graph_entry(struct ftrace_graph_ent *trace)
{
	return 0;
}

void trace_graph_return(struct ftrace_graph_ret *trace)
{
}

#endif
