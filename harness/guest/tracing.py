# SPDX-License-Identifier: MIT
"""The collector and the tracer of a guest, created on first use."""

from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.files import atomic_file
from harness.image import Image
from harness.readout import CollectorState, EventBuffer
from harness.tracer import Tracer, TracerState

LAST_EVENTS = 10
"""Events in the description of a guest."""

LAST_PAGES = 2
"""Pages of each CPU in which they are looked for: a page has far more."""


@dataclass(frozen=True, slots=True)
class TracingState:
    """The state of tracing in a snapshot; None if not in use yet."""

    tracer: TracerState | None
    collector: CollectorState | None


class Tracing:
    """The collector and the tracer of one guest, created on first use."""

    def __init__(
        self,
        make_collector: Callable[[], EventBuffer],
        make_tracer: Callable[[EventBuffer], Tracer],
    ) -> None:
        self._make_collector = make_collector
        self._make_tracer = make_tracer
        self._collector: EventBuffer | None = None
        self._tracer: Tracer | None = None

    @property
    def in_use(self) -> bool:
        """Whether there is a tracer already."""
        return self._tracer is not None

    @property
    def collector(self) -> EventBuffer:
        """The reader of the ring buffer; `GuestError` before the guest has set it up."""
        if self._collector is None:
            self._collector = self._make_collector()
        return self._collector

    @property
    def tracer(self) -> Tracer:
        """Tracers, filters and events; errors as of `collector`."""
        if self._tracer is None:
            self._tracer = self._make_tracer(self.collector)
        return self._tracer

    def drain(
        self,
        full: Callable[[], Collection[int]] = tuple,
        give_up: Callable[[], bool] = lambda: False,
    ) -> None:
        """As of `EventBuffer.drain`, if in use; ``full`` is called only then."""
        if self._collector is not None:
            self._collector.drain(full(), give_up)

    def last_lines(self, readable: bool) -> list[str]:
        """The last lines of the trace; if the guest cannot be read, of the events read before."""
        if not self.in_use:
            return []
        lines: deque[str] = deque(maxlen=LAST_EVENTS)
        try:
            lines.extend(self.tracer.trace(drain=readable, pages=LAST_PAGES))
        except HarnessError:
            lines.extend(self.tracer.trace(drain=False, pages=LAST_PAGES))
        return [line for line in lines if not line.startswith("#")]

    def save(self, file: Path, *, ask: bool, drain: bool) -> bool:
        """Write a trace.dat, after a drain if that is possible; False if nothing was traced."""
        if not self.in_use:
            return False
        if drain:
            with suppress(HarnessError):
                self.collector.drain()
        with atomic_file(file) as stream:
            self.tracer.write(stream, ask=ask)
        return True

    def module_came(self) -> None:
        """As of `Tracer`, if in use."""
        if self._tracer is not None:
            self._tracer.module_came()

    def module_went(self, module: Image) -> None:
        """As of `Tracer`, if in use."""
        if self._tracer is not None:
            self._tracer.module_went(module)

    @property
    def state(self) -> TracingState:
        """The state for a snapshot."""
        return TracingState(
            None if self._tracer is None else self._tracer.state,
            None if self._collector is None else self._collector.state(),
        )

    def restore(self, state: TracingState) -> None:
        """Return to a saved state."""
        if state.collector is not None:
            self.collector.restore(state.collector)
        elif self._collector is not None:
            # The guest may not have set up its ring buffer yet.
            self._collector.close()
            self._collector = self._tracer = None
        if state.tracer is not None or self._tracer is not None:
            self.tracer.state = state.tracer or TracerState()
