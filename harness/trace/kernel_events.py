# SPDX-License-Identifier: MIT
"""Events other than function calls, with the kernel's output for each."""

from collections import Counter
from collections.abc import Mapping

from harness.trace.events import EVENT_CLASSES, FieldValue, TraceEvent
from harness.trace.formats import EventFormat
from harness.trace.printk import MAX_TEXT
from harness.units import escape

_STATES = "SDTtXZPI"
_PREEMPTED = 0x100


class KernelStackEvent(TraceEvent):
    """The stack trace of the event before it, innermost function first."""

    __slots__ = ()

    @property
    def callers(self) -> tuple[int, ...]:
        """The return addresses."""
        return _stack(self.fields)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self.symbols.name(address) for address in self.callers)

    @property
    def message(self) -> str:
        """A headline, and a line for each function."""
        return "\n".join(("<stack trace>", *(f" => {name}" for name in self.functions)))

    @property
    def line(self) -> str:
        """As `message`: function names have no newlines."""
        return self.message


class PrintEvent(TraceEvent):
    """The text of a ``trace_printk()``."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text without its newline."""
        return str(self.fields["buf"]).removesuffix("\n")

    @property
    def function(self) -> str:
        """The function that called it."""
        return self.symbols.name(_integer(self.fields, "ip"))

    @property
    def message(self) -> str:
        """The function and the text."""
        return f"{self.function}: {self.text}"


class BinaryPrintEvent(PrintEvent):
    """The same, of which the kernel stored the address of the format, and the arguments.

    ``buf`` is the text.
    """

    __slots__ = ()


class PutsEvent(PrintEvent):
    """The text of a ``trace_puts()``, of which the kernel stored the address."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text without its newline, or its address if it is not known."""
        address = _integer(self.fields, "str")
        text = self.symbols.text(address)
        return f"<{address:#x}>" if text is None else escape(text.removesuffix("\n"), MAX_TEXT)


class SchedSwitchEvent(TraceEvent):
    """A context switch."""

    __slots__ = ()

    @property
    def prev_state(self) -> str:
        """The state of the previous thread, in letters: ``R``, ``R+`` if preempted, ``S``, ..."""
        state = _integer(self.fields, "prev_state")
        letters = "|".join(name for bit, name in enumerate(_STATES) if state >> bit & 1)
        return (letters or "R") + ("+" if state & _PREEMPTED else "")

    @property
    def message(self) -> str:
        """Both threads, in the event's print format."""
        of = {name: _decimal(value) for name, value in self.fields.items()}
        return (
            f"sched_switch: prev_comm={of['prev_comm']} prev_pid={of['prev_pid']} "
            f"prev_prio={of['prev_prio']} prev_state={self.prev_state} ==> "
            f"next_comm={of['next_comm']} next_pid={of['next_pid']} next_prio={of['next_prio']}"
        )


class SysEnterEvent(TraceEvent):
    """A thread enters a system call."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The number, and the arguments in hexadecimal."""
        arguments = self.fields["args"]
        shown = ", ".join(map(_hexadecimal, arguments if isinstance(arguments, tuple) else ()))
        return f"sys_enter: NR {_decimal(self.fields['id'])} ({shown})"


class SysExitEvent(TraceEvent):
    """A thread leaves a system call."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """Number and result."""
        return f"sys_exit: NR {_decimal(self.fields['id'])} = {_decimal(self.fields['ret'])}"


class SyscallEnterEvent(TraceEvent):
    """A thread enters the system call in the event's name."""

    __slots__ = ()

    @property
    def arguments(self) -> dict[str, FieldValue]:
        """The arguments by name, from the thread's registers."""
        return {name: value for name, value in self.fields.items() if name not in _NUMBER}

    @property
    def message(self) -> str:
        """The call with its arguments by name, in hexadecimal."""
        shown = ", ".join(
            f"{name}: {_hexadecimal(value)}" for name, value in self.arguments.items()
        )
        return f"{self.name.replace('_enter_', '_', 1)}({shown})"


class SyscallExitEvent(TraceEvent):
    """A thread leaves the system call in the event's name."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The call and its result, in hexadecimal as the kernel prints it."""
        result = _integer(self.fields, "ret") & (1 << 64) - 1
        return f"{self.name.replace('_exit_', '_', 1)} -> {result:#x}"


class LatencyEvent(TraceEvent):
    """The longest section with interrupts disabled, found by the irqsoff tracer."""

    __slots__ = ()

    @property
    def latency(self) -> int:
        """Its length in nanoseconds."""
        return _integer(self.fields, "latency")

    @property
    def started_at(self) -> str:
        """The function that disabled interrupts."""
        return self.symbols.name(_integer(self.fields, "start_ip"))

    @property
    def ended_at(self) -> str:
        """The function that enabled them."""
        return self.symbols.name(_integer(self.fields, "end_ip"))

    @property
    def message(self) -> str:
        """The latency and both functions."""
        return f"irqsoff: {self.latency} ns, from {self.started_at} to {self.ended_at}"


_NUMBER = frozenset({"__syscall_nr", "nr"})
_SCHED_SWITCH = frozenset(
    {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"}
)

_CLASSES: Mapping[tuple[str, str], tuple[type[TraceEvent], frozenset[str]]] = {
    ("ftrace", "kernel_stack"): (KernelStackEvent, frozenset({"caller"})),
    ("ftrace", "print"): (PrintEvent, frozenset({"ip", "buf"})),
    ("ftrace", "bprint"): (BinaryPrintEvent, frozenset({"ip", "fmt", "buf"})),
    ("ftrace", "bputs"): (PutsEvent, frozenset({"ip", "str"})),
    ("ftrace", "irqsoff"): (LatencyEvent, frozenset({"latency", "start_ip", "end_ip"})),
    ("sched", "sched_switch"): (SchedSwitchEvent, _SCHED_SWITCH),
    ("raw_syscalls", "sys_enter"): (SysEnterEvent, frozenset({"id", "args"})),
    ("raw_syscalls", "sys_exit"): (SysExitEvent, frozenset({"id", "ret"})),
}


def event_class(form: EventFormat) -> type[TraceEvent]:
    """The class of the events of a format; `TraceEvent` if a field that it needs is missing."""
    made, relies_on = EVENT_CLASSES.get(form.name, (TraceEvent, frozenset[str]()))
    made, relies_on = _CLASSES.get((form.system, form.name), (made, relies_on))
    if form.system == "syscalls" and form.name.startswith("sys_enter_"):
        made = SyscallEnterEvent
    if form.system == "syscalls" and form.name.startswith("sys_exit_"):
        made, relies_on = SyscallExitEvent, frozenset({"ret"})
    return made if _fits(form, relies_on) else TraceEvent


_ARRAYS = frozenset({"caller", "args", "buf", "prev_comm", "next_comm"})


def _fits(form: EventFormat, needed: frozenset[str]) -> bool:
    usable = {
        field.name
        for field in form.fields
        if (field.is_array if field.name in _ARRAYS else field.is_integer)
    }
    # Of several fields with the same name, an event has only one, perhaps the wrong one.
    names = Counter(field.name for field in form.fields)
    return needed <= usable and all(names[name] == 1 for name in needed)


def _decimal(value: FieldValue) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _hexadecimal(value: FieldValue) -> str:
    return f"{value:x}" if isinstance(value, int) else _decimal(value)


def _integer(fields: Mapping[str, FieldValue], name: str) -> int:
    value = fields[name]
    return value if isinstance(value, int) else 0


def _stack(fields: Mapping[str, FieldValue]) -> tuple[int, ...]:
    """The addresses up to the event's size, or up to an address of all ones."""
    callers = fields["caller"]
    if not isinstance(callers, tuple):
        return ()
    size = fields.get("size")
    if isinstance(size, int) and 0 <= size < len(callers):
        callers = callers[:size]
    end = next((i for i, one in enumerate(callers) if one in _ENDS), len(callers))
    return callers[:end]


_ENDS = frozenset({(1 << 32) - 1, (1 << 64) - 1})
