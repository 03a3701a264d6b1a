# SPDX-License-Identifier: MIT
"""More files of tracefs: events, options, threads, and the longest latency."""

from harness.errors import UsageError
from harness.shell.session import Session
from harness.shell.verb import UNLIMITED, Arguments, verb
from harness.shell.verbs.tracefs import GROUP, number

NO_PID = "no pid"


@verb(
    "[> | >>] [EVENT...]",
    most=UNLIMITED,
    completes="events",
    example="set_event sched:sched_switch",
    group=GROUP,
)
def set_event(session: Session, arguments: Arguments) -> None:
    """Show or set the events that are recorded; >> adds, ! in front takes away, > alone: none."""
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_event(*arguments.words, append=arguments.redirect == ">>")
        return
    for name in tracer.enabled_events:
        session.print(name)


@verb(group=GROUP)
def available_events(session: Session, arguments: Arguments) -> None:
    """The events that set_event can switch on."""
    for name in session.live.tracer.available_events:
        session.print(name)


@verb(
    "[OPTION...]",
    most=UNLIMITED,
    completes="options",
    example="trace_options func_stack_trace",
    group=GROUP,
)
def trace_options(session: Session, arguments: Arguments) -> None:
    """Show or set options; no in front switches one off."""
    tracer = session.live.tracer
    if arguments.words:
        tracer.set_option(*arguments.words)
        return
    for word in tracer.trace_options:
        session.print(word)


@verb("[>] [PID...]", most=UNLIMITED, example="set_ftrace_pid 1", group=GROUP)
def set_ftrace_pid(session: Session, arguments: Arguments) -> None:
    """Trace the functions of these threads only; > alone lifts it.  See: threads"""
    if arguments.reads:
        ignored = [thread for thread in session.live.threads() if thread.ftrace_ignore]
        traced = [thread for thread in session.live.threads() if not thread.ftrace_ignore]
        for line in [str(thread.pid) for thread in traced] if ignored else [NO_PID]:
            session.print(line)
        return
    session.live.tracer.set_ftrace_pid(*map(number, arguments.words))


@verb("[>] [PID...]", most=UNLIMITED, example="set_event_pid 1", group=GROUP)
def set_event_pid(session: Session, arguments: Arguments) -> None:
    """Record the events of these threads only; > alone lifts it.  See: threads"""
    if arguments.reads:
        raise UsageError("which threads?", "Give their numbers; > alone means all. See: threads")
    session.live.tracer.set_event_pid(*map(number, arguments.words))


@verb("[MICROSECONDS]", example="tracing_max_latency 0", group=GROUP)
def tracing_max_latency(session: Session, arguments: Arguments) -> None:
    """irqsoff: show or set the longest time that interrupts were masked."""
    tracer = session.live.tracer
    if arguments.words:
        tracer.tracing_max_latency = number(arguments.words[0])
    else:
        session.print(str(tracer.tracing_max_latency))
