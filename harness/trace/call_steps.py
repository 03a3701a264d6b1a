# SPDX-License-Identifier: MIT
"""The calls of a trace one by one, each with its path, without those of interrupts."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.trace.calls import ThreadCalls, ThreadKey, thread_key
from harness.trace.events import (
    HARDIRQ,
    NMI,
    SOFTIRQ,
    FuncgraphEntryEvent,
    FuncgraphExitEvent,
    FunctionEvent,
    TraceEvent,
)
from harness.trace.filter import Predicate
from harness.trace.symbols import Symbols

CallPath = tuple[str, ...]
"""The names of the traced functions around a call, outermost first, with its own last."""

_INTERRUPT = HARDIRQ | SOFTIRQ | NMI


class CallStep(NamedTuple):
    """A call of a thread.

    ``path`` of a function event is the caller and the function.  ``event`` is the entry, or the
    exit of a call whose entry is not in the trace.
    """

    thread: ThreadKey
    path: CallPath
    event: TraceEvent


class CallSteps:
    """Finds the calls in the events of one trace.

    An interrupt comes at another place in each run, so its calls are left out: those whose flags
    say hardirq, softirq or NMI, and those from the interrupt's entry functions.  ``interrupted``
    counts them.
    """

    def __init__(self, symbols: Symbols) -> None:
        self._irq_text = symbols.irq_entry_text()
        self._calls: dict[ThreadKey, ThreadCalls] = {}
        self._irq_depth: dict[ThreadKey, int] = {}
        self.interrupted = 0

    def steps(
        self, events: Iterable[TraceEvent], keep: Predicate | None = None
    ) -> Iterator[CallStep]:
        """The calls in order; ``keep`` chooses the events."""
        for event in events:
            if keep is not None and not keep(event):
                continue
            if isinstance(event, FunctionEvent):
                if self._interrupt(event, event.ip, event.parent_ip):
                    self.interrupted += 1
                else:
                    yield CallStep(thread_key(event), (event.parent, event.function), event)
            elif isinstance(event, FuncgraphEntryEvent):
                yield from self._enter(event)
            elif isinstance(event, FuncgraphExitEvent):
                yield from self._leave(event)

    def _enter(self, event: FuncgraphEntryEvent) -> Iterator[CallStep]:
        key = thread_key(event)
        # The interrupt's exit may not be in the trace.
        if event.depth <= self._irq_depth.get(key, -1):
            del self._irq_depth[key]
        if key not in self._irq_depth and self._interrupt(event, event.func):
            self._irq_depth[key] = event.depth
        if key in self._irq_depth:
            self.interrupted += 1
            return
        calls = self._calls.setdefault(key, ThreadCalls())
        calls.enter(event)
        yield CallStep(key, tuple(frame.name for frame in calls.frames), event)

    def _leave(self, event: FuncgraphExitEvent) -> Iterator[CallStep]:
        key = thread_key(event)
        if key in self._irq_depth:
            if event.depth > self._irq_depth[key]:
                return
            if event.depth == self._irq_depth.pop(key):
                return
        ended = self._calls.setdefault(key, ThreadCalls()).leave(event)[-1]
        if ended.path[-1].func is None and not self._interrupt(event, event.func):
            yield CallStep(key, tuple(frame.name for frame in ended.path), event)

    def _interrupt(self, event: TraceEvent, *addresses: int) -> bool:
        return bool(event.flags & _INTERRUPT) or any(at in self._irq_text for at in addresses)
