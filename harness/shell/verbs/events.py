# SPDX-License-Identifier: MIT
"""More files of tracefs: events, options, pids, and tracing_max_latency."""

from harness.errors import UsageError
from harness.shell.session import Session
from harness.shell.verb import UNLIMITED, Arguments, verb
from harness.shell.verbs.tracefs import GROUP, number, show_or_set

NO_PID = "no pid"


@verb(
    "[> | >>] [EVENT...]",
    most=UNLIMITED,
    completes="events",
    example="set_event sched:sched_switch",
    group=GROUP,
)
def set_event(session: Session, arguments: Arguments) -> None:
    """Show or set the recorded events; >> adds, a leading !  removes, > alone disables all."""
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_event(*arguments.words, append=arguments.redirect == ">>")
        return
    session.print_all(tracer.enabled_events)


@verb(group=GROUP)
def available_events(session: Session, arguments: Arguments) -> None:
    """The events known to set_event."""
    session.print_all(session.live.tracer.available_events)


@verb(
    "[OPTION...]",
    most=UNLIMITED,
    completes="options",
    example="trace_options func_stack_trace",
    group=GROUP,
)
def trace_options(session: Session, arguments: Arguments) -> None:
    """Show or set options; a leading no disables one."""
    tracer = session.live.tracer
    if arguments.words:
        tracer.set_option(*arguments.words)
        return
    session.print_all(tracer.trace_options)


@verb("[>] [PID...]", most=UNLIMITED, example="set_ftrace_pid 1", group=GROUP)
def set_ftrace_pid(session: Session, arguments: Arguments) -> None:
    """Trace functions of these threads only; > alone traces all.  See: threads"""
    if arguments.reads:
        ignored = [thread for thread in session.live.threads() if thread.ftrace_ignore]
        traced = [thread for thread in session.live.threads() if not thread.ftrace_ignore]
        session.print_all([str(thread.pid) for thread in traced] if ignored else [NO_PID])
        return
    session.live.tracer.set_ftrace_pid(*map(number, arguments.words))


@verb("[>] [PID...]", most=UNLIMITED, example="set_event_pid 1", group=GROUP)
def set_event_pid(session: Session, arguments: Arguments) -> None:
    """Record events of these threads only; > alone records all.  See: threads"""
    if arguments.reads:
        raise UsageError("which threads?", "Give their numbers; > alone means all. See: threads")
    session.live.tracer.set_event_pid(*map(number, arguments.words))


@verb("[MICROSECONDS]", example="tracing_max_latency 0", group=GROUP)
def tracing_max_latency(session: Session, arguments: Arguments) -> None:
    """irqsoff: show or set the longest time with interrupts disabled."""
    show_or_set(session, arguments, session.live.tracer, "tracing_max_latency")
