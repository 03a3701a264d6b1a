# SPDX-License-Identifier: MIT
"""current_tracer, set_ftrace_filter and set_ftrace_notrace of a stopped live guest.

Switching goes through the port's own points only: the call sites of the chosen functions, the words
that the port's slots hold, and the pointers that the specification names.  A static guest has the
pointers alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import UsageError
from harness.image import Image
from harness.isa import CallSite, SiteState
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.tracer.filters import select


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a tracer hangs in: the function behind ``ftrace_call``, and whether returns count."""

    function: str | None = None
    graph: bool = False


TRACERS = {
    "nop": Hooks(),
    "function": Hooks(function="function_trace_call"),
    "function_graph": Hooks(graph=True),
}


@dataclass(frozen=True, slots=True)
class TracerState:
    """What goes with a snapshot of the guest, for the text of both has to agree."""

    current: str = "nop"
    filters: tuple[str, ...] = ()
    notrace: tuple[str, ...] = ()
    enabled: frozenset[CallSite] = frozenset()


class TracerControl:
    """The state of the tracer of one guest, and the only way to change it."""

    def __init__(self, image: Image, text: Text, cpus: Cpus) -> None:
        self._image = image
        self._text = text
        self._cpus = cpus
        self._dynamic = "ftrace_caller" in image.symbols
        self._current = "nop"
        self._filters: tuple[str, ...] = ()
        self._notrace: tuple[str, ...] = ()
        self._enabled: frozenset[CallSite] = frozenset()

    @property
    def state(self) -> TracerState:
        """What text and pointers were made to do.  To be set when a snapshot was loaded only."""
        return TracerState(self._current, self._filters, self._notrace, self._enabled)

    @state.setter
    def state(self, state: TracerState) -> None:
        self._current, self._filters = state.current, state.filters
        self._notrace, self._enabled = state.notrace, state.enabled

    @property
    def available_tracers(self) -> list[str]:
        """What ``current`` may be set to on this guest."""
        graph = "ftrace_graph_caller" in self._image.symbols
        return [name for name, hooks in TRACERS.items() if graph or not hooks.graph]

    @property
    def available_filter_functions(self) -> list[str]:
        """Every function that has a call site, by address."""
        return [site.function for site in self._image.sites]

    @property
    def enabled_functions(self) -> list[str]:
        """The functions whose call sites call the tracer now, by address."""
        return [site.function for site in sorted(self._enabled, key=lambda site: site.address)]

    @property
    def current(self) -> str:
        """``current_tracer``."""
        return self._current

    @current.setter
    def current(self, tracer: str) -> None:
        if tracer not in self.available_tracers:
            raise UsageError(
                f"this guest has no tracer {tracer!r}",
                f"Tracers: {', '.join(self.available_tracers)}.",
            )
        self._switch(tracer, self._filters, self._notrace)

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_filter``: trace only what these globs match; none lifts the filter."""
        self._switch(self._current, (*self._filters, *globs) if append else globs, self._notrace)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_notrace``: never trace what these globs match; none lifts the filter."""
        self._switch(self._current, self._filters, (*self._notrace, *globs) if append else globs)

    def sites_of(self, *globs: str) -> list[CallSite]:
        """The call sites of the functions that match any of the globs, by address."""
        names = select(self.available_filter_functions, globs)
        return [site for site in self._image.sites if site.function in names]

    def _switch(self, tracer: str, filters: tuple[str, ...], notrace: tuple[str, ...]) -> None:
        if (filters or notrace) and not self._dynamic:
            raise UsageError(
                "a static guest traces every function", "Build it with DYNAMIC_FTRACE for filters."
            )
        names = select(self.available_filter_functions, filters, notrace)
        on = self._dynamic and tracer != "nop"
        enabled = frozenset(site for site in self._image.sites if on and site.function in names)
        plan = PatchPlan([*self._slot_patches(tracer), *self._site_patches(enabled)])
        # A stub may look at the pointers from the moment on that it can be reached.
        if tracer != "nop":
            self._write_pointers(tracer)
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        if tracer == "nop":
            self._write_pointers(tracer)
        self._current, self._filters, self._notrace = tracer, filters, notrace
        self._enabled = enabled

    def _write_pointers(self, tracer: str) -> None:
        """ftrace_trace_function, ftrace_graph_return and ftrace_graph_entry, as far as there."""
        hooks = TRACERS[tracer]
        wanted = {
            "ftrace_trace_function": hooks.function or "ftrace_stub",
            "ftrace_graph_return": "trace_graph_return" if hooks.graph else "ftrace_stub",
            "ftrace_graph_entry": "trace_graph_entry" if hooks.graph else "ftrace_graph_entry_stub",
        }
        image = self._image
        for pointer, function in wanted.items():
            if pointer in image.symbols:
                value = image.address_of(function).to_bytes(image.isa.word_size, image.byteorder)
                self._text.restore_memory(image.symbols[pointer], value)

    def _slot_patches(self, tracer: str) -> Iterable[Patch]:
        if not self._dynamic:
            return []
        old, new = self._slot_words(self._current), self._slot_words(tracer)
        return [
            self._patch(address, (old[address],), (word,), self._image.symbolize(address))
            for address, word in new.items()
            if old[address] != word
        ]

    def _slot_words(self, tracer: str) -> dict[int, int]:
        hooks = TRACERS[tracer]
        target = None if hooks.function is None else self._image.address_of(hooks.function)
        return self._image.isa.tracer_words(self._image.symbols, target, hooks.graph)

    def _site_patches(self, enabled: frozenset[CallSite]) -> Iterable[Patch]:
        for site in enabled ^ self._enabled:
            words = {
                state: self._image.isa.site_words(site, state, self._image.symbols["ftrace_caller"])
                for state in (SiteState.NOP, SiteState.CALL)
            }
            on = site in enabled
            old, new = (SiteState.NOP, SiteState.CALL) if on else (SiteState.CALL, SiteState.NOP)
            yield self._patch(
                site.address, words[old], words[new], f"the call site of {site.function}"
            )

    def _patch(self, address: int, old: tuple[int, ...], new: tuple[int, ...], what: str) -> Patch:
        to_bytes = self._image.isa.words_to_bytes
        return Patch(address, to_bytes(old), to_bytes(new), what)
