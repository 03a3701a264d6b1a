# SPDX-License-Identifier: MIT
"""The function profiler and the stack tracer: their files, in the kernel's text.

The layouts are those of ``function_stat_show()`` and of ``t_show()`` in the stack tracer of Linux
6.12.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from harness.guest import Guest
from harness.image import RunningImage
from harness.trace.events import duration_text
from harness.tracefs.files import UNLIMITED, Directory, File, is_own, number, switch, word, words
from harness.tracer import Profile, StackEntry

WITH_TIMES = """\
  Function                               Hit    Time            Avg             s^2
  --------                               ---    ----            ---             ---"""

HITS = """\
  Function                               Hit
  --------                               ---"""

DISABLED = """\
#
#  The stack tracer is disabled.
#  Enable it: echo 1 > stack_tracer_enabled
#"""

NO_FILTER = "#### all functions enabled ####"


def has_profiler(guest: Guest) -> bool:
    """Whether the guest counts calls."""
    return is_own(guest) and "function_profiles" in guest.image.symbols


def has_stack_tracer(guest: Guest) -> bool:
    """Whether the guest compares stacks."""
    return is_own(guest) and "stack_trace_control" in guest.image.symbols


def profile_directory() -> Directory:
    """``trace_stat``: the calls of each function, by CPU."""
    return Directory(
        lambda guest: {
            f"function{cpu}": File("The functions called on this CPU.", partial(_profile, cpu))
            for cpu in range(len(guest.collector.spools))
        },
        has_profiler,
    )


def _profile(cpu: int, guest: Guest) -> Iterator[str]:
    names = {site.ip: site.function for site in guest.image.sites}
    profiler = guest.tracer.profiler
    yield from profile_text(
        ((names.get(one.site) or hex(one.site), one) for one in profiler.profiles(cpu)),
        profiler.has_times,
    )
    missed = profiler.missed(cpu)
    if missed:
        yield f"# {missed} calls of other functions: the guest's table is full"


def profile_text(profiles: Iterable[tuple[str, Profile]], times: bool) -> Iterator[str]:
    """The lines of ``trace_stat/functionN``; without the graph tracer there are no ``times``."""
    yield from (WITH_TIMES if times else HITS).split("\n")
    for name, one in profiles:
        line = f"  {name:<30.30}  {one.calls:>10}"
        if times:
            line += "".join(f"    {_time(t)}" for t in (one.time, one.average, one.variance))
        yield line


def _time(nanoseconds: int) -> str:
    """A time as of ``trace_print_graph_duration()``, with the spaces behind it."""
    text = duration_text(nanoseconds)
    return f"{text} ".ljust(len(" us ") + 8)


def stack_text(entries: Sequence[StackEntry], names: Iterable[str], disabled: bool) -> list[str]:
    """The lines of ``stack_trace``; ``disabled``: the tracer is off and has found nothing."""
    lines = [
        f"        Depth    Size   Location    ({len(entries)} entries)",
        "        -----    ----   --------",
    ]
    if disabled:
        lines += DISABLED.split("\n")
    callers = [*(one.depth for one in entries[1:]), 0][: len(entries)]
    for index, (one, caller, name) in enumerate(zip(entries, callers, names, strict=True)):
        lines.append(f"{index:>3}) {one.depth:>8}   {one.depth - caller:>5}   {name}")
    return lines


def _place(image: RunningImage, address: int) -> str:
    """As ``%pS`` of Linux: ``function+0x10/0x40``, and `` [module]`` if it is in one."""
    function = image.function_at(address)
    if function is None:
        return hex(address)
    module = image.module_at(address)
    offset = f"+{address - function.address:#x}/{function.size:#x}"
    return f"{function.name}{offset}{f' [{module}]' if module else ''}"


def _stack(guest: Guest) -> list[str]:
    stack = guest.tracer.stack
    entries, off = stack.trace, not stack.enabled and not stack.max_size
    return stack_text(entries, [_place(guest.image, one.address) for one in entries], off)


def _set_profile(guest: Guest, on: bool) -> None:
    guest.tracer.profiler.enabled = on


def _set_stack_tracer(guest: Guest, on: bool) -> None:
    guest.tracer.stack.enabled = on


def _set_max_size(guest: Guest, text: str) -> None:
    guest.tracer.stack.max_size = number(text)


PROFILE_FILES: dict[str, File] = {
    "function_profile_enabled": switch(
        lambda guest: guest.tracer.profiler.enabled,
        _set_profile,
        "Show or set whether calls of functions are counted; to enable it clears trace_stat.",
        has_profiler,
    ),
    "stack_tracer_enabled": switch(
        lambda guest: guest.tracer.stack.enabled,
        _set_stack_tracer,
        "Show or set whether the deepest stack is looked for; in Linux a sysctl.",
        has_stack_tracer,
    ),
    "stack_max_size": File(
        "Show or set the bytes of the deepest stack so far.",
        lambda guest: [str(guest.tracer.stack.max_size)],
        word(_set_max_size),
        "[BYTES]",
        example="stack_max_size 0",
        there=has_stack_tracer,
    ),
    "stack_trace": File(
        "The functions active when the stack was deepest.", _stack, there=has_stack_tracer
    ),
    "stack_trace_filter": File(
        "Show or set the functions at whose entry the stack is looked at; > alone: all.",
        lambda guest: guest.tracer.stack.filter_functions or [NO_FILTER],
        words(lambda guest, globs, append: guest.tracer.stack.set_filter(*globs, append=append)),
        "[> | >>] [GLOB...]",
        UNLIMITED,
        "functions",
        there=has_stack_tracer,
    ),
}
