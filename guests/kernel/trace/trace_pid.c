// SPDX-License-Identifier: MIT
/*
 * The tracing state of new threads: the lists of process ids, and the slow path of system
 * calls. The debugger changes existing threads itself.
 */
#include <linux/ftrace.h>
#include <linux/trace_events.h>
#include <linux/trace_filter.h>

struct trace_pid_control trace_pid_control;

static bool is_listed(const volatile s32 *pids, u32 count, s32 pid)
{
	u32 i;

	for (i = 0; i < count && i < TRACE_MAX_PIDS; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

void ftrace_init_thread(struct thread_info *thread)
{
	const volatile struct trace_pid_control *control = &trace_pid_control;
	const volatile struct trace_event_control *events = &trace_event_control;
	const volatile struct trace_filter_control *filters = &trace_filter_control;

	thread->ftrace_ignore =
		(control->nr_ftrace_pids &&
		 !is_listed(control->ftrace_pids, control->nr_ftrace_pids, thread->pid)) ||
		is_listed(control->ftrace_notrace_pids, control->nr_ftrace_notrace_pids,
			  thread->pid);
	thread->event_ignore = filters->nr_filters ? EVENT_FILTERS : 0;
	if ((control->nr_event_pids &&
	     !is_listed(control->event_pids, control->nr_event_pids, thread->pid)) ||
	    is_listed(control->event_notrace_pids, control->nr_event_notrace_pids, thread->pid))
		thread->event_ignore |= EVENT_IGNORED;
	if (events->enabled & TRACE_EVENT_ANY_SYSCALL)
		thread->flags |= _TIF_SYSCALL_TRACEPOINT;
}
