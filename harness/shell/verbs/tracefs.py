# SPDX-License-Identifier: MIT
"""The files of tracefs as verbs: without arguments they show the value, otherwise they set it."""

from collections import deque
from functools import partial
from itertools import chain

from harness.errors import UsageError
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import FILES, UNLIMITED, Arguments, verb

GROUP = FILES
NO_FILTER = "#### all functions enabled ####"
NO_NOTRACE = "#### no functions disabled ####"

_filter = partial(verb, "[> | >>] [GLOB...]", most=UNLIMITED, completes="functions", group=GROUP)


@verb("[TRACER]", completes="tracers", example="current_tracer function", group=GROUP)
def current_tracer(session: Session, arguments: Arguments) -> None:
    """Show or set the tracer; nop is none.  Call sites change at once."""
    tracer = session.live.tracer
    if arguments.words:
        tracer.current = arguments.words[0]
    else:
        session.print(tracer.current)


@verb(group=GROUP)
def available_tracers(session: Session, arguments: Arguments) -> None:
    """The tracers of this guest."""
    session.print(" ".join(session.live.tracer.available_tracers))


@_filter(example="set_ftrace_filter >> do_*")
def set_ftrace_filter(session: Session, arguments: Arguments) -> None:
    """Show or set the traced functions; >> adds to them, > alone removes the filter.

    FUNCTION:mod:MODULE matches functions of modules.  FUNCTION:traceon, :traceoff or :stacktrace,
    optionally with :COUNT, sets a trigger; !FUNCTION:COMMAND removes it.
    """
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_filter(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, tracer.filter_functions, NO_FILTER)
        for one in tracer.triggers:
            count = "unlimited" if one.count is None else f"count={one.count}"
            session.print(f"{one.function}:{one.command}:{count}")


@_filter(example="set_ftrace_notrace > str*")
def set_ftrace_notrace(session: Session, arguments: Arguments) -> None:
    """Show or set functions that are not traced; >> adds to them, > alone clears the list."""
    tracer = session.live.tracer
    if not arguments.reads:
        tracer.set_notrace(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, tracer.notrace_functions or None, NO_NOTRACE)


@_filter(example="set_graph_function do_work")
def set_graph_function(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set the functions to trace with callees; > alone: all."""
    graph = session.live.tracer.graph
    if not arguments.reads:
        graph.set_graph_function(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, graph.graph_functions or None, NO_FILTER)


@_filter(example="set_graph_notrace printk")
def set_graph_notrace(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set functions that are not traced, with their callees."""
    graph = session.live.tracer.graph
    if not arguments.reads:
        graph.set_graph_notrace(*arguments.words, append=arguments.redirect == ">>")
    else:
        _names(session, graph.graph_notrace or None, NO_NOTRACE)


@verb("[DEPTH]", example="max_graph_depth 2", group=GROUP)
def max_graph_depth(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set the maximum depth of traced calls; 0 for no limit."""
    show_or_set(session, arguments, session.live.tracer.graph, "max_graph_depth")


@verb("[MICROSECONDS]", example="tracing_thresh 100", group=GROUP)
def tracing_thresh(session: Session, arguments: Arguments) -> None:
    """function_graph: show or set the minimum duration of recorded calls; 0 for all."""
    show_or_set(session, arguments, session.live.tracer.graph, "tracing_thresh")


@verb("[GLOB]", completes="functions", example="available_filter_functions do_*", group=GROUP)
def available_filter_functions(session: Session, arguments: Arguments) -> None:
    """The traceable functions, by address."""
    if arguments.redirect:
        raise UsageError("available_filter_functions is only read")
    _names(session, session.live.tracer.functions_of(*arguments.words), "")


@verb(group=GROUP)
def enabled_functions(session: Session, arguments: Arguments) -> None:
    """The functions whose call sites are enabled, by address."""
    session.print_all(session.live.tracer.enabled_functions)


@verb("[0 | 1]", most=1, example="tracing_on 0", group=GROUP)
def tracing_on(session: Session, arguments: Arguments) -> None:
    """Show or set whether the ring buffer accepts events; call sites stay as they are."""
    tracer = session.live.tracer
    if not arguments.words:
        session.print(str(int(tracer.on)))
    elif arguments.words[0] in ("0", "1"):
        tracer.on = arguments.words[0] == "1"
    else:
        raise UsageError(f"tracing_on is 0 or 1, not {arguments.words[0]!r}")


@verb("[> | LINES]", most=1, example="trace 20", group=GROUP)
def trace(session: Session, arguments: Arguments) -> None:
    """Show the events so far, or the last LINES; trace > deletes them."""
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
    last: deque[str] = deque(maxlen=count)
    for line in lines:
        session.interrupt.check()
        (header if line.startswith("#") and not last else last).append(line)
    session.print_all(chain(header, last))


@verb(group=GROUP)
def trace_pipe(session: Session, arguments: Arguments) -> None:
    """Run the guest and print its events; Ctrl-C stops it.

    The guest is stopped during the output, so no event is lost.
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
    session.print_all([otherwise] if names is None else names)


def show_or_set(session: Session, arguments: Arguments, owner: object, name: str) -> None:
    """Show the number ``owner.name``, or set it to the first argument."""
    if arguments.words:
        setattr(owner, name, number(arguments.words[0]))
    else:
        session.print(str(getattr(owner, name)))


def number(word: str) -> int:
    """An integer; UsageError for anything else."""
    try:
        return int(word, 0)
    except ValueError:
        raise UsageError(f"{word!r} is not a number") from None


def natural(word: str) -> int:
    """A non-negative integer; UsageError for anything else."""
    value = number(word)
    if not 0 <= value < 1 << 32:
        raise UsageError(f"{word} is not a possible number here", "Choose 0 or more.")
    return value
