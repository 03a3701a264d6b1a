# SPDX-License-Identifier: MIT
"""The files in the top directory of tracefs, in the order of the session's help."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from harness.errors import UsageError
from harness.guest import Guest
from harness.readout import Collector
from harness.tracefs.cpumask import cpumask_text, parse_cpumask
from harness.tracefs.files import UNLIMITED, File, is_own, number, switch, word, words
from harness.tracefs.profiles import PROFILE_FILES
from harness.tracefs.streams import EventLines
from harness.tracer import PidList
from harness.units import KIB

NO_FILTER = "#### all functions enabled ####"
NO_NOTRACE = "#### no functions disabled ####"
NO_PID = "no pid"

_functions = partial(File, takes="[> | >>] [GLOB...]", most=UNLIMITED, completes="functions")


def _has_graph(guest: Guest) -> bool:
    return "function_graph" in guest.tracer.available_tracers


def _has_irqsoff(guest: Guest) -> bool:
    return "irqsoff" in guest.tracer.available_tracers


def _set_tracer(guest: Guest, name: str) -> None:
    guest.tracer.current = name


def _filter(guest: Guest) -> Iterable[str]:
    names = guest.tracer.filter_functions
    yield from [NO_FILTER] if names is None else names
    for one in guest.tracer.triggers:
        count = "unlimited" if one.count is None else f"count={one.count}"
        yield f"{one.function}:{one.command}:{count}"


def _numbered(
    help_: str,
    get: Callable[[Guest], object],
    name: str,
    takes: str,
    there: Callable[[Guest], bool],
) -> File:
    """A file with a number, which is the attribute ``name`` of an object."""
    return File(
        help_,
        lambda guest: [str(getattr(get(guest), name))],
        word(lambda guest, text: setattr(get(guest), name, number(text))),
        takes,
        example=f"{name} 2",
        there=there,
    )


def _set_on(guest: Guest, on: bool) -> None:
    guest.tracer.on = on


def _trace(guest: Guest) -> Iterable[str]:
    guest.settle()
    return guest.tracer.trace()


def _clear(guest: Guest, text: str, append: bool) -> None:
    """As in the kernel the text does not matter, but whether it was to replace the file's."""
    if not append:
        guest.tracer.clear()


def _set_options(guest: Guest, options: Sequence[str], append: bool) -> None:
    guest.tracer.set_option(*options)


def _all_pids(text: Sequence[str], held: Callable[[], list[int]], append: bool) -> list[int]:
    before = held() if append else []
    return list(dict.fromkeys([*before, *map(number, text)]))


def _pids(which: PidList, help_: str, there: Callable[[Guest], bool] = lambda guest: True) -> File:
    """One of the lists of process ids."""

    def write(guest: Guest, text: Sequence[str], append: bool) -> None:
        tracer = guest.tracer
        tracer.set_pids(which, _all_pids(text, lambda: tracer.pids(which), append))

    return File(
        help_,
        lambda guest: [str(pid) for pid in guest.tracer.pids(which)] or [NO_PID],
        words(write),
        "[> | >>] [PID...]",
        UNLIMITED,
        example=f"{which} 1",
        there=there,
    )


def _set_cpumask(guest: Guest, text: str) -> None:
    assert isinstance(guest.collector, Collector)
    guest.collector.cpumask = parse_cpumask(text, len(guest.collector.spools))


def _cpumask(guest: Guest) -> list[str]:
    assert isinstance(guest.collector, Collector)
    return [cpumask_text(guest.collector.cpumask, len(guest.collector.spools))]


def _resize(guest: Guest, text: str) -> None:
    size = number(text)
    if size <= 0:
        raise UsageError(f"a buffer of {size} KB is not possible")
    if guest.tracer.current == "irqsoff":
        raise UsageError("the buffer has the section of irqsoff", "Set current_tracer nop first.")
    guest.settle()
    guest.collector.configure(size * KIB, guest.collector.overwriting)


def _buffer_size(guest: Guest) -> list[str]:
    """As the kernel: ``X`` if the CPUs differ."""
    sizes = set(guest.collector.sizes)
    return [str(sizes.pop() // KIB) if len(sizes) == 1 else "X"]


def _cmdlines(guest: Guest) -> list[str]:
    names = guest.tracer.remember_names()
    return [f"{pid} {' '.join(name.split())}" for pid, name in sorted(names.items()) if pid]


CONTROLS: dict[str, File] = {
    "current_tracer": File(
        "Show or set the tracer; nop is none.  Call sites change at once.",
        lambda guest: [guest.tracer.current],
        word(_set_tracer),
        "[TRACER]",
        completes="tracers",
        example="current_tracer function",
    ),
    "available_tracers": File(
        "The tracers of this guest.", lambda guest: [" ".join(guest.tracer.available_tracers)]
    ),
    "set_ftrace_filter": _functions(
        "Show or set the traced functions; >> adds to them, > alone removes the filter.\n\n"
        "!GLOB removes functions.  FUNCTION:mod:MODULE matches functions of modules.\n"
        "FUNCTION:traceon, :traceoff or :stacktrace, optionally with :COUNT, sets a trigger;\n"
        "!FUNCTION:COMMAND removes it.",
        _filter,
        words(lambda guest, globs, append: guest.tracer.set_filter(*globs, append=append)),
        example="set_ftrace_filter >> do_*",
    ),
    "set_ftrace_notrace": _functions(
        "Show or set functions that are not traced; >> adds to them, > alone clears the list.",
        lambda guest: guest.tracer.notrace_functions or [NO_NOTRACE],
        words(lambda guest, globs, append: guest.tracer.set_notrace(*globs, append=append)),
        example="set_ftrace_notrace > str*",
    ),
    "set_graph_function": _functions(
        "function_graph: show or set the functions to trace with callees; > alone: all.",
        lambda guest: guest.tracer.graph.graph_functions or [NO_FILTER],
        words(
            lambda guest, globs, append: guest.tracer.graph.set_graph_function(
                *globs, append=append
            )
        ),
        example="set_graph_function do_work",
        there=_has_graph,
    ),
    "set_graph_notrace": _functions(
        "function_graph: show or set functions that are not traced, with their callees.",
        lambda guest: guest.tracer.graph.graph_notrace or [NO_NOTRACE],
        words(
            lambda guest, globs, append: guest.tracer.graph.set_graph_notrace(*globs, append=append)
        ),
        example="set_graph_notrace printk",
        there=_has_graph,
    ),
    "max_graph_depth": _numbered(
        "function_graph: show or set the maximum depth of traced calls; 0 for no limit.",
        lambda guest: guest.tracer.graph,
        "max_graph_depth",
        "[DEPTH]",
        _has_graph,
    ),
    "tracing_thresh": _numbered(
        "function_graph: show or set the minimum duration of recorded calls; 0 for all.",
        lambda guest: guest.tracer.graph,
        "tracing_thresh",
        "[MICROSECONDS]",
        _has_graph,
    ),
    "available_filter_functions": File(
        "The traceable functions, by address.",
        lambda guest: guest.tracer.available_filter_functions,
    ),
    "enabled_functions": File(
        "The functions whose call sites are enabled, by address.",
        lambda guest: guest.tracer.enabled_functions,
    ),
    "touched_functions": File(
        "The functions whose call sites were ever enabled, since boot or attach, by address.",
        lambda guest: guest.tracer.touched_functions,
        there=lambda guest: is_own(guest) and "ftrace_caller" in guest.image.symbols,
    ),
    "dyn_ftrace_total_info": File(
        "The number of call sites.",
        lambda guest: [str(len(guest.image.sites))],
        there=lambda guest: "ftrace_caller" in guest.image.symbols,
    ),
    "tracing_on": switch(
        lambda guest: guest.tracer.on,
        _set_on,
        "Show or set whether the ring buffer accepts events; call sites stay as they are.",
    ),
    "tracing_cpumask": File(
        "Show or set the CPUs whose events are recorded, as a mask of hexadecimal digits.",
        _cpumask,
        word(_set_cpumask),
        "[MASK]",
        example="tracing_cpumask 1",
        there=is_own,
    ),
    "trace": File(
        "Show the events so far; trace > deletes them.", _trace, _clear, "[>]", most=UNLIMITED
    ),
    "trace_pipe": File(
        "The events, each once, while the guest runs.",
        stream=lambda guest: EventLines(guest.tracer.pipe()),
    ),
    "set_event": File(
        "Show or set the recorded events; >> adds, a leading !  removes, > alone disables all.",
        lambda guest: guest.tracer.enabled_events,
        words(lambda guest, events, append: guest.tracer.set_event(*events, append=append)),
        "[> | >>] [EVENT...]",
        UNLIMITED,
        "events",
        "set_event sched:sched_switch",
    ),
    "available_events": File(
        "The events known to set_event.", lambda guest: guest.tracer.available_events
    ),
    "trace_options": File(
        "Show or set options; a leading no disables one.",
        lambda guest: guest.tracer.trace_options,
        words(_set_options),
        "[OPTION...]",
        UNLIMITED,
        "options",
        "trace_options func_stack_trace",
    ),
    "set_ftrace_pid": _pids(
        PidList.FTRACE,
        "Trace functions of these threads only; >> adds, > alone traces all.  See: threads",
    ),
    "set_ftrace_notrace_pid": _pids(
        PidList.FTRACE_NOTRACE,
        "Trace no functions of these threads; >> adds, > alone clears the list.",
        is_own,
    ),
    "set_event_pid": _pids(
        PidList.EVENT,
        "Record events of these threads only; >> adds, > alone records all.  See: threads",
    ),
    "set_event_notrace_pid": _pids(
        PidList.EVENT_NOTRACE,
        "Record no events of these threads; >> adds, > alone clears the list.",
        is_own,
    ),
    "tracing_max_latency": _numbered(
        "irqsoff: show or set the longest time with interrupts disabled.",
        lambda guest: guest.tracer,
        "tracing_max_latency",
        "[MICROSECONDS]",
        _has_irqsoff,
    ),
    "trace_marker": File(
        "Write a text into the trace, in the thread of the stopped CPU.",
        write=lambda guest, text, append: guest.write_marker(text),
        takes="[TEXT...]",
        most=UNLIMITED,
        whole=True,
        example="trace_marker here it begins",
        there=is_own,
    ),
    "buffer_size_kb": File(
        "Show or set the size of each CPU's ring buffer; to set it deletes all events.",
        _buffer_size,
        word(_resize),
        "[KB]",
        example="buffer_size_kb 64",
    ),
    "buffer_total_size_kb": File(
        "The size of the ring buffers of all CPUs.",
        lambda guest: [str(sum(guest.collector.sizes) // KIB)],
    ),
    **PROFILE_FILES,
    "trace_clock": File("The clock of the time stamps.", lambda guest: ["[local]"], there=is_own),
    "saved_cmdlines": File("The names of threads, by process id.", _cmdlines),
}
