# SPDX-License-Identifier: MIT
"""The files of tracefs as verbs: alone they show what is, with words they change it."""

from collections import deque
from itertools import chain

from harness.errors import UsageError
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import FILES, UNLIMITED, Arguments, verb

GROUP = FILES
NO_FILTER = "#### all functions enabled ####"
NO_NOTRACE = "#### no functions disabled ####"


@verb("[TRACER]", completes="tracers", example="current_tracer function", group=GROUP)
def current_tracer(session: Session, arguments: Arguments) -> None:
    """Show or set the tracer; nop is none.  Call sites are rewritten at once."""
    tracer = session.live.tracer
    if arguments.words:
        tracer.current = arguments.words[0]
    else:
        session.print(tracer.current)


@verb(group=GROUP)
def available_tracers(session: Session, arguments: Arguments) -> None:
    """The tracers that this guest has."""
    session.print(" ".join(session.live.tracer.available_tracers))


@verb(
    "[> | >>] [GLOB...]",
    most=UNLIMITED,
    completes="functions",
    example="set_ftrace_filter >> do_*",
    group=GROUP,
)
def set_ftrace_filter(session: Session, arguments: Arguments) -> None:
    """Show or set the functions that are traced; >> adds to them, > alone lifts the filter.

    FUNCTION:mod:MODULE names functions of modules.  FUNCTION:traceon, :traceoff or :stacktrace,
    with :COUNT or without, arms a trigger; !FUNCTION:COMMAND takes it away.
    """
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_filter(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, tracer.filter_functions, NO_FILTER)
        for one in tracer.triggers:
            count = "unlimited" if one.count is None else f"count={one.count}"
            session.print(f"{one.function}:{one.command}:{count}")


@verb(
    "[> | >>] [GLOB...]",
    most=UNLIMITED,
    completes="functions",
    example="set_ftrace_notrace > str*",
    group=GROUP,
)
def set_ftrace_notrace(session: Session, arguments: Arguments) -> None:
    """Show or set the functions that are never traced; >> adds to them, > alone lifts it."""
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_notrace(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, tracer.notrace_functions or None, NO_NOTRACE)


@verb(
    "[> | >>] [GLOB...]",
    most=UNLIMITED,
    completes="functions",
    example="set_graph_function do_work",
    group=GROUP,
)
def set_graph_function(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set the functions that it begins at; > alone: at every one."""
    graph = session.live.tracer.graph
    if not arguments.reads:
        graph.set_graph_function(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, graph.graph_functions or None, NO_FILTER)


@verb(
    "[> | >>] [GLOB...]",
    most=UNLIMITED,
    completes="functions",
    example="set_graph_notrace printk",
    group=GROUP,
)
def set_graph_notrace(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set functions that are left out with all that they call."""
    graph = session.live.tracer.graph
    if not arguments.reads:
        graph.set_graph_notrace(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, graph.graph_notrace or None, NO_NOTRACE)


@verb("[DEPTH]", example="max_graph_depth 2", group=GROUP)
def max_graph_depth(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set the deepest call that is traced; 0 for no bound."""
    graph = session.live.tracer.graph
    if arguments.words:
        graph.max_graph_depth = number(arguments.words[0])
    else:
        session.print(str(graph.max_graph_depth))


@verb("[MICROSECONDS]", example="tracing_thresh 100", group=GROUP)
def tracing_thresh(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set how long a call has to take to be recorded; 0 for all."""
    graph = session.live.tracer.graph
    if arguments.words:
        graph.tracing_thresh = number(arguments.words[0])
    else:
        session.print(str(graph.tracing_thresh))


@verb("[GLOB]", completes="functions", example="available_filter_functions do_*", group=GROUP)
def available_filter_functions(session: Session, arguments: Arguments) -> None:
    """The functions that can be traced, by address."""
    if arguments.redirect:
        raise UsageError("available_filter_functions is only read")
    _names(session, session.live.tracer.functions_of(*arguments.words), "")


@verb(group=GROUP)
def enabled_functions(session: Session, arguments: Arguments) -> None:
    """The functions whose call sites call the tracer now, by address."""
    for name in session.live.tracer.enabled_functions:
        session.print(name)


@verb("[0 | 1]", most=1, example="tracing_on 0", group=GROUP)
def tracing_on(session: Session, arguments: Arguments) -> None:
    """Show or set whether the ring buffer takes events; call sites stay as they are."""
    tracer = session.live.tracer
    if not arguments.words:
        session.print(str(int(tracer.on)))
    elif arguments.words[0] in ("0", "1"):
        tracer.on = arguments.words[0] == "1"
    else:
        raise UsageError(f"tracing_on is 0 or 1, not {arguments.words[0]!r}")


@verb("[> | LINES]", most=1, example="trace 20", group=GROUP)
def trace(session: Session, arguments: Arguments) -> None:
    """Show the events so far, or the last LINES of them; trace > clears them."""
    if arguments.redirect:
        if arguments.words:
            raise UsageError("trace takes no text; trace > alone clears it")
        session.live.tracer.clear()
        return
    count = natural(arguments.words[0]) if arguments.words else None
    lines = session.trace()
    if count is None:
        session.print_all(lines)
        return
    header: list[str] = []
    kept: deque[str] = deque(maxlen=count)
    for line in lines:
        session.interrupt.check()
        (header if line.startswith("#") and not kept else kept).append(line)
    session.print_all(chain(header, kept))


@verb(group=GROUP)
def trace_pipe(session: Session, arguments: Arguments) -> None:
    """Let the guest run and print its events as they come; Ctrl-C stops it.

    The guest waits while its events are printed, so none is lost.
    """
    guest = session.live
    pipe = guest.tracer.pipe()
    enough = False

    def drained() -> bool:
        nonlocal enough
        for event in pipe.events():
            if session.interrupt.pressed:
                enough = True
                return False
            session.show(event)
        return True

    saved, guest.on_drain = guest.on_drain, drained
    try:
        gdb.run(session, until="workload_done")
    finally:
        guest.on_drain = saved
    if not enough and not session.gone:
        guest.settle()
        guest.collector.drain()
        drained()


def _names(session: Session, names: list[str] | None, otherwise: str) -> None:
    for name in [otherwise] if names is None else names:
        session.print(name)


def number(word: str) -> int:
    """A number as people write them; UsageError if it is none."""
    try:
        return int(word, 0)
    except ValueError:
        raise UsageError(f"{word!r} is not a number") from None


def natural(word: str) -> int:
    """A number of things; UsageError if it is none."""
    value = number(word)
    if not 0 <= value < 1 << 32:
        raise UsageError(f"{word} is not a possible number here", "Choose 0 or more.")
    return value
