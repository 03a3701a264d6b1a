# SPDX-License-Identifier: MIT
"""Trace events as Python values; printed, they are the lines of the kernel's ``trace`` file."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from harness.ring import LOST_UNKNOWN
from harness.trace.symbols import Symbols

IRQS_OFF = 0x01
IRQS_NOSUPPORT = 0x02
NEED_RESCHED = 0x04
HARDIRQ = 0x08
SOFTIRQ = 0x10
PREEMPT_RESCHED = 0x20
NMI = 0x40
BH_OFF = 0x80

MAX_DEPTH = 256
"""The maximum depth shown.  Kernels stop at 50; a damaged file may not."""

OVERHEAD_MARKS = (
    (1_000_000_000, "$"),
    (100_000_000, "@"),
    (10_000_000, "*"),
    (1_000_000, "#"),
    (100_000, "!"),
    (10_000, "+"),
)
"""Limits in nanoseconds, and the mark of a longer duration."""

_U64 = (1 << 64) - 1

FieldValue = int | str | bytes | tuple[int, ...]


class _Event(NamedTuple):
    # A tuple is as immutable as a frozen dataclass, and created four times as fast.
    stamp: int
    cpu: int
    name: str
    pid: int
    comm: str
    flags: int
    preempt_count: int
    fields: Mapping[str, FieldValue]
    lost: int
    symbols: Symbols


class TraceEvent(_Event):
    """One event.

    ``stamp`` is in nanoseconds (or in ticks, with a clock such as ``counter``); ``flags`` and
    ``preempt_count`` are the common fields of those names; ``fields`` has the event's own ones.
    ``lost`` is the number of this CPU's events that were lost just before this one (0, a number, or
    `LOST_UNKNOWN`).  Texts from the file are escaped.
    """

    __slots__ = ()

    @property
    def message(self) -> str:
        """The text behind the time stamp in the ``trace`` file."""
        values = " ".join(f"{name}={_shown(value)}" for name, value in self.fields.items())
        return f"{self.name}: {values}"

    @property
    def function(self) -> str:
        """The name of the function that was entered or left; empty for other events."""
        return ""

    @property
    def line(self) -> str:
        """The message as one line of the ``trace`` file."""
        return self.message.replace("\n", "\\n")

    @property
    def context(self) -> str:
        """Task, CPU and latency flags, as in the ``trace`` file."""
        return _context(self.comm, self.pid, self.cpu, self.flags, self.preempt_count)

    def __str__(self) -> str:
        stamp, cpu, _, pid, comm, flags, preempt_count, *_ = self
        context = _context(comm, pid, cpu, flags, preempt_count)
        # Slicing digits takes a third of the time of formatting seconds and microseconds.
        digits = str((stamp + 500) // 1000).zfill(7)
        return f"{context} {digits[:-6].rjust(5)}.{digits[-6:]}: {self.line}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self).lstrip()}>"


class FunctionEvent(TraceEvent):
    """A function entry, recorded by the function tracer."""

    __slots__ = ()

    @property
    def ip(self) -> int:
        """The address of the call site."""
        return self.fields["ip"]  # type: ignore[return-value]

    @property
    def parent_ip(self) -> int:
        """The return address, in the caller."""
        return self.fields["parent_ip"]  # type: ignore[return-value]

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.symbols.name(self.ip)

    @property
    def parent(self) -> str:
        """The name of the caller."""
        return self.symbols.name(self.parent_ip)

    @property
    def arguments(self) -> tuple[int, ...]:
        """What was in the registers of arguments (func-args); empty if it was not recorded."""
        recorded = self.fields.get("args")
        return recorded if isinstance(recorded, tuple) else ()

    @property
    def message(self) -> str:
        """``function <-caller``, or ``function(arguments) <-caller``."""
        name, fields = self.symbols.name, self.fields
        shown = f"({', '.join(map(hex, self.arguments))})" if "args" in fields else ""
        return f"{name(fields['ip'])}{shown} <-{name(fields['parent_ip'])}"  # type: ignore[arg-type]


MAX_ERRNO = 4095
"""The largest number of an error, as of the kernel's IS_ERR_VALUE()."""


class _FuncgraphEvent(TraceEvent):
    __slots__ = ()

    @property
    def func(self) -> int:
        """The address of the function, as reported by the graph tracer."""
        return self.fields["func"]  # type: ignore[return-value]

    @property
    def depth(self) -> int:
        """The number of traced calls of the same thread around this one."""
        return self.fields["depth"]  # type: ignore[return-value]

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.symbols.name(self.func)

    @property
    def indentation(self) -> str:
        """The indentation of the kernel's graph output, with a limited depth."""
        return "  " * min(max(self.depth, 0), MAX_DEPTH)


class FuncgraphEntryEvent(_FuncgraphEvent):
    """A call, recorded by the function graph tracer."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The call with an opening brace, indented by its depth."""
        return f"funcgraph_entry: {'|':>16}  {self.indentation}{self.function}() {{"


class FuncgraphExitEvent(_FuncgraphEvent):
    """A return, recorded by the function graph tracer; times in nanoseconds."""

    __slots__ = ()

    @property
    def overrun(self) -> int:
        """The number of this thread's calls that were too deep to be traced."""
        return self.fields["overrun"]  # type: ignore[return-value]

    @property
    def calltime(self) -> int:
        """The time of the entry."""
        return self._time("calltime")

    @property
    def rettime(self) -> int:
        """The time of the return."""
        return self._time("rettime")

    @property
    def duration(self) -> int:
        """The duration of the call, including its callees."""
        return self.rettime - self.calltime & _U64

    @property
    def retval(self) -> int | None:
        """The function's result as an unsigned word (funcgraph-retval); None if not recorded."""
        recorded = self.fields.get("retval")
        return recorded if isinstance(recorded, int) else None

    @property
    def result(self) -> str:
        """`retval` as the kernel prints it: an error as a number, all else in hex; empty if none.

        An ``int`` may have been widened without its sign.
        """
        value = self.retval
        if value is None:
            return ""
        sign = 31 if value >> 31 == 1 else 63
        signed = value - (value >> sign << sign + 1)
        return str(signed) if -MAX_ERRNO <= signed < 0 else f"0x{value:x}"

    @property
    def message(self) -> str:
        """Duration and a closing brace, with the function's name behind it."""
        duration = duration_text(self.duration)
        return f"funcgraph_exit:  {duration:>14} |  {self.indentation}}} /* {self.function} */"

    def _time(self, name: str) -> int:
        """A time as unsigned; a file may declare it as signed."""
        return self.fields[name] & _U64  # type: ignore[operator]


def duration_text(nanoseconds: int) -> str:
    """Microseconds with at most seven digits in all: ``12.345 us``."""
    whole, rest = divmod(nanoseconds, 1000)
    digits = str(whole)
    room = max(0, 7 - len(digits))
    return f"{digits}.{f'{rest:03}'[:room]} us" if room else f"{digits} us"


def _shown(value: FieldValue) -> str:
    if isinstance(value, int) and value > 0xFFFF:
        return f"{value:#x}"
    return value.hex() if isinstance(value, bytes) else str(value)


EVENT_CLASSES: Mapping[str, tuple[type[TraceEvent], frozenset[str]]] = {
    "function": (FunctionEvent, frozenset({"ip", "parent_ip"})),
    "funcgraph_entry": (FuncgraphEntryEvent, frozenset({"func", "depth"})),
    "fgraph_retaddr_entry": (FuncgraphEntryEvent, frozenset({"func", "depth"})),
    "funcgraph_exit": (
        FuncgraphExitEvent,
        frozenset({"func", "depth", "overrun", "calltime", "rettime"}),
    ),
}
"""Events with their own class, and the integer fields that it needs."""


# Consecutive events mostly differ in time and function only.
@lru_cache(maxsize=1024)
def _context(comm: str, pid: int, cpu: int, flags: int, preempt_count: int) -> str:
    return f"{comm:>16}-{pid:<7} [{cpu:03}] {latency_flags(flags, preempt_count)}"


def latency_flags(flags: int, preempt_count: int) -> str:
    """Five characters: irqs-off, need-resched, hardirq/softirq, preempt-depth, migrate-disable."""
    if flags & IRQS_OFF:
        irqs = "D" if flags & BH_OFF else "d"
    elif flags & BH_OFF:
        irqs = "b"
    else:
        irqs = "X" if flags & IRQS_NOSUPPORT else "."
    resched = {NEED_RESCHED | PREEMPT_RESCHED: "N", NEED_RESCHED: "n", PREEMPT_RESCHED: "p"}.get(
        flags & (NEED_RESCHED | PREEMPT_RESCHED), "."
    )
    if flags & NMI:
        interrupt = "Z" if flags & HARDIRQ else "z"
    elif flags & HARDIRQ:
        interrupt = "H" if flags & SOFTIRQ else "h"
    else:
        interrupt = "s" if flags & SOFTIRQ else "."
    preempt, migrate = preempt_count & 15, preempt_count >> 4 & 15
    return f"{irqs}{resched}{interrupt}{_depth(preempt)}{_depth(migrate)}"


def _depth(count: int) -> str:
    return f"{count:x}" if count else "."


def lost_line(cpu: int, lost: int) -> str:
    """The line for lost events."""
    return f"CPU:{cpu} [LOST EVENTS]" if lost == LOST_UNKNOWN else f"CPU:{cpu} [LOST {lost} EVENTS]"
