# SPDX-License-Identifier: MIT
"""current_tracer, set_ftrace_filter and set_ftrace_notrace of a stopped live guest.

Switching goes through the port's patch points only: the call sites of the chosen functions and
the words that ``ftrace_update_ftrace_func()`` owns.
"""

from collections.abc import Iterable

from harness.errors import UsageError
from harness.image import Image
from harness.isa import CallSite, SiteState
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.tracer.filters import select

TRACERS = {"nop": None, "function": "function_trace_call"}
"""Tracers and the guest function that each hangs into the ``ftrace_call`` slot."""


class TracerControl:
    """The state of the tracer of one guest, and the only way to change it."""

    def __init__(self, image: Image, text: Text, cpus: Cpus) -> None:
        self._image = image
        self._text = text
        self._cpus = cpus
        self._current = "nop"
        self._filters: tuple[str, ...] = ()
        self._notrace: tuple[str, ...] = ()
        self._enabled: frozenset[CallSite] = frozenset()

    @property
    def available_tracers(self) -> list[str]:
        """What ``current`` may be set to."""
        return list(TRACERS)

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
        if tracer not in TRACERS:
            raise UsageError(f"there is no tracer {tracer!r}", f"Tracers: {', '.join(TRACERS)}.")
        self._switch(tracer, self._filters, self._notrace)

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_filter``: trace only what these globs match; none lifts the filter."""
        self._switch(self._current, (*self._filters, *globs) if append else globs, self._notrace)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_notrace``: never trace what these globs match; none lifts the filter."""
        self._switch(self._current, self._filters, (*self._notrace, *globs) if append else globs)

    def _switch(self, tracer: str, filters: Iterable[str], notrace: Iterable[str]) -> None:
        filters, notrace = tuple(filters), tuple(notrace)
        wanted = self._wanted(filters, notrace)
        enabled = wanted if TRACERS[tracer] else frozenset[CallSite]()
        plan = PatchPlan([*self._slot_patches(tracer), *self._site_patches(enabled)])
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        self._current, self._filters, self._notrace = tracer, filters, notrace
        self._enabled = enabled

    def _wanted(self, filters: Iterable[str], notrace: Iterable[str]) -> frozenset[CallSite]:
        names = select(self.available_filter_functions, filters, notrace)
        return frozenset(site for site in self._image.sites if site.function in names)

    def _slot_patches(self, tracer: str) -> Iterable[Patch]:
        old = self._slot_words(self._current)
        return [
            self._patch(address, (old[address],), (word,), self._image.symbolize(address))
            for address, word in self._slot_words(tracer).items()
            if old[address] != word
        ]

    def _slot_words(self, tracer: str) -> dict[int, int]:
        function = TRACERS[tracer]
        target = None if function is None else self._image.symbols[function]
        return self._image.isa.tracer_words(self._image.symbols, target)

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
