# SPDX-License-Identifier: MIT
"""The graph view: the output of the kernel's function_graph tracer, character by character.

A call and its return are paired on one line (a leaf) if no event of the same CPU lies between them.
An entry or exit without its counterpart, at either end of the trace or after lost events, is
printed alone; an exit then with the name of its function.
"""

import heapq
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import chain

from harness.errors import UsageError
from harness.trace.events import (
    MAX_DEPTH,
    OVERHEAD_MARKS,
    FuncgraphEntryEvent,
    FuncgraphExitEvent,
    TraceEvent,
    duration_text,
    lost_line,
)
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.selected import number_column, numbered_header

HEAD = 2
"""Lines of a header in front of the titles of columns."""

_RULE = " " + "-" * 42
_NO_DURATION = " " * 14 + "|  "
_TASK_WIDTH = 14
_COMM_SHOWN = 7
# The kernel remembers the entered functions up to this depth.
_REMEMBERED = 50

# Events that the kernel prints as lines, not as comments.
_PLAIN = frozenset({"function", "kernel_stack", "unknown"})


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The kernel's ``funcgraph-`` options of these names, with the kernel's defaults."""

    cpu: bool = True
    overhead: bool = True
    duration: bool = True
    irqs: bool = True
    proc: bool = False
    abstime: bool = False
    tail: bool = False
    overrun: bool = False

    @classmethod
    def parse(cls, words: Iterable[str]) -> "GraphOptions":
        """Options as in ``trace_options``: ``funcgraph-tail``, ``nofuncgraph-irqs``."""
        names = [known.name for known in fields(cls)]
        chosen = {}
        for word in words:
            prefix, _, name = word.partition("funcgraph-")
            if name not in names or prefix not in ("", "no"):
                raise UsageError(
                    f"{word!r} is not an option of the graph view",
                    f"There are: {', '.join(f'funcgraph-{name}' for name in names)}; "
                    "each with no in front to switch it off.",
                )
            chosen[name] = not prefix
        return replace(DEFAULT_OPTIONS, **chosen)


DEFAULT_OPTIONS = GraphOptions()


def report_graph(
    reader: TraceDatReader,
    *,
    keep: Predicate | None = None,
    options: GraphOptions = DEFAULT_OPTIONS,
    number: bool = False,
) -> Iterator[str]:
    """The lines of a whole trace without line ends; ``keep`` chooses the events.

    A leaf is one line and shown if its call is.  Lost events have a line, whatever ``keep`` says.
    ``number`` is that of `report_text`; a leaf has its call's.
    """
    header = header_lines(options)
    yield from (*header[:HEAD], *map(numbered_header, header[HEAD:])) if number else header
    printer = _Printer(reader, options, number)
    cpus = (_with_returns(reader.cpu_events(cpu)) for cpu in range(reader.cpu_count))
    numbers = _numbers(reader) if number else None
    for at, event, leaf in heapq.merge(*cpus, key=lambda one: one[1].stamp):
        if event.lost:
            yield printer.blank + lost_line(event.cpu, event.lost)
        if keep is None or keep(event):
            printer.column = number_column(numbers[event.cpu][at]) if numbers else ""
            yield from printer.lines(event, leaf)
        elif leaf is not None and keep(leaf):
            printer.column = number_column(numbers[event.cpu][at + 1]) if numbers else ""
            yield from printer.lines(leaf, None)


def _numbers(reader: TraceDatReader) -> "list[array[int]]":
    """For each CPU the numbers of its events among those of all."""
    numbers = [array("Q") for _ in range(reader.cpu_count)]
    for number, event in enumerate(reader.events()):
        numbers[event.cpu].append(number)
    return numbers


def header_lines(options: GraphOptions) -> list[str]:
    """The lines above the calls."""
    columns = [
        (options.abstime, "     TIME       ", "      |         "),
        (options.cpu, " CPU", " |  "),
        (options.proc, "  TASK/PID       ", "   |    |        "),
        (options.duration, "  DURATION   ", "   |   |      "),
        (True, "               FUNCTION CALLS", "               |   |   |   |"),
    ]
    return [
        "# tracer: function_graph",
        "#",
        "#" + "".join(title for shown, title, _ in columns if shown),
        "#" + "".join(strokes for shown, _, strokes in columns if shown),
    ]


def _with_returns(
    events: Iterable[TraceEvent],
) -> Iterator[tuple[int, TraceEvent, FuncgraphExitEvent | None]]:
    """The events of a CPU, numbered from 0; a leaf's call comes together with its return."""
    call: FuncgraphEntryEvent | None = None
    for at, event in enumerate(chain(events, (None,))):
        if call is not None:
            leaf = event if isinstance(event, FuncgraphExitEvent) else None
            if leaf and (leaf.func != call.func or leaf.pid != call.pid or leaf.lost):
                leaf = None
            yield at - 1, call, leaf
            call = None
            if leaf:
                continue
        if isinstance(event, FuncgraphEntryEvent):
            call = event
        elif event is not None:
            yield at, event, None


@dataclass(slots=True)
class _Cpu:
    """The state of the last line of a CPU."""

    task: tuple[int, str] | None = None
    depth: int = 0
    irq_depth: int = -1
    entered: dict[int, int] = field(default_factory=dict)


class _Printer:
    """Prints events, with the state of each CPU.

    ``column`` is in front of the lines of an event, and ``blank`` of others.
    """

    def __init__(self, reader: TraceDatReader, options: GraphOptions, number: bool) -> None:
        self.blank = number_column(None) if number else ""
        self.column = self.blank
        self._options = options
        self._cpu_width = len(str(max(reader.cpu_count - 1, 0)))
        self._cpus = [_Cpu() for _ in range(reader.cpu_count)]
        self._irq_text = reader.symbols.irq_entry_text()

    def lines(self, event: TraceEvent, leaf: FuncgraphExitEvent | None) -> Iterator[str]:
        """The lines of one event, or of a leaf: the call ``event`` and its return."""
        cpu = self._cpus[event.cpu]
        if isinstance(event, FuncgraphEntryEvent):
            if self._hides_entry(cpu, event):
                if leaf is not None:
                    self._hides_exit(cpu, leaf)
                return
            yield from self._task_switch(cpu, event)
            yield from self._irq(event, event.func, "==========>")
            yield self._entry(cpu, event, leaf)
            if leaf is not None:
                yield from self._irq(event, event.func, "<==========")
        elif isinstance(event, FuncgraphExitEvent):
            if self._hides_exit(cpu, event):
                return
            yield from self._task_switch(cpu, event)
            yield self._exit(cpu, event)
            if self._options.overrun:
                yield f"{self.blank} (Overruns: {event.overrun})"
            yield from self._irq(event, event.func, "<==========")
        elif event.name in _PLAIN:
            yield f"{self.column}{event}"
        else:
            yield from self._task_switch(cpu, event)
            depth = cpu.depth + 1 if cpu.depth > 0 else 0
            column = _NO_DURATION if self._options.duration else ""
            yield f"{self._context(event)}{column}{'  ' * depth}/* {_comment(event)} */"

    def _entry(self, cpu: _Cpu, call: FuncgraphEntryEvent, leaf: FuncgraphExitEvent | None) -> str:
        options, depth = self._options, _clamped(call.depth)
        context = self._context(call)
        cpu.depth = depth - 1 if leaf else depth
        cpu.entered.pop(depth, None)
        if leaf is not None:
            result = f" /* = {leaf.result} */" if leaf.result else ""
            return f"{context}{self._duration(leaf)}{call.indentation}{call.function}();{result}"
        cpu.entered[depth] = call.func
        column = _NO_DURATION if options.duration else ""
        return f"{context}{column}{call.indentation}{call.function}() {{"

    def _exit(self, cpu: _Cpu, event: FuncgraphExitEvent) -> str:
        depth = _clamped(event.depth)
        cpu.depth = depth - 1
        matches = depth >= _REMEMBERED or cpu.entered.pop(depth, None) == event.func
        name = "" if matches and not self._options.tail else f" /* {event.function} */"
        if event.result:
            name = f" /* {event.function} = {event.result} */"
        return f"{self._context(event)}{self._duration(event)}{event.indentation}}}{name}"

    def _context(self, event: TraceEvent) -> str:
        """The columns before the duration."""
        options = self._options
        context = self.column
        if options.abstime:
            seconds, rest = divmod(event.stamp, 1_000_000_000)
            context = f"{seconds:5}.{rest // 1000:06} |  "
        if options.cpu:
            context += f" {event.cpu:{self._cpu_width}}) "
        if options.proc:
            context += f"{_task(event.pid, event.comm)} | "
        return context

    def _duration(self, event: FuncgraphExitEvent) -> str:
        if not self._options.duration:
            return ""
        duration, mark = event.duration, " "
        if self._options.overhead:
            mark = next((mark for limit, mark in OVERHEAD_MARKS if duration > limit), " ")
        return f"{mark} {duration_text(duration):<11} |  "

    def _task_switch(self, cpu: _Cpu, event: TraceEvent) -> Iterator[str]:
        before, cpu.task = cpu.task, (event.pid, event.comm)
        if before is not None and before[0] != event.pid:
            yield f"{self.blank}{_RULE}"
            place = f" {event.cpu:{self._cpu_width}})"
            yield f"{self.blank}{place} {_task(*before)} => {_task(*cpu.task)}"
            yield f"{self.blank}{_RULE}"
            yield ""

    def _irq(self, event: TraceEvent, func: int, arrow: str) -> Iterator[str]:
        if func in self._irq_text:
            column = ("  ", " |") if self._options.duration else ("", "")
            yield f"{self._context(event)}{column[0]}{arrow}{column[1]}"

    def _hides_entry(self, cpu: _Cpu, event: FuncgraphEntryEvent) -> bool:
        """Without funcgraph-irqs: whether this call is an interrupt, or inside one."""
        if self._options.irqs:
            return False
        if cpu.irq_depth >= 0:
            return True
        if event.func not in self._irq_text:
            return False
        cpu.irq_depth = _clamped(event.depth)
        return True

    def _hides_exit(self, cpu: _Cpu, event: FuncgraphExitEvent) -> bool:
        if self._options.irqs or cpu.irq_depth == -1:
            return False
        if cpu.irq_depth >= _clamped(event.depth):
            cpu.irq_depth = -1
        return True


def _clamped(depth: int) -> int:
    return min(max(depth, 0), MAX_DEPTH)


def _task(pid: int, comm: str) -> str:
    return f"{comm[:_COMM_SHOWN]}-{pid}".center(_TASK_WIDTH)


def _comment(event: TraceEvent) -> str:
    text = event.fields.get("buf")
    if event.name == "print" and isinstance(text, str):
        return text.rstrip("\n").replace("\n", "\\n")
    return event.line
