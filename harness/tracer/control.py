# SPDX-License-Identifier: MIT
"""current_tracer, set_ftrace_filter and set_ftrace_notrace of a stopped live guest.

Switching goes through the port's own points only: the call sites of the chosen functions, the words
that the port's slots hold, and the pointers that the specification names.  A static guest has the
pointers alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from harness.errors import UsageError
from harness.image import Image
from harness.isa import CallSite, SiteState
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.tracer.filters import select
from harness.tracer.irqsoff import IRQSOFF
from harness.tracer.triggers import Trigger, TriggerControl, change_triggers, is_trigger


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a tracer hangs in: the function behind ``ftrace_call``, and whether returns count."""

    function: str | None = None
    graph: bool = False


TRACERS = {
    "nop": Hooks(),
    "function": Hooks(function="function_trace_call"),
    "function_graph": Hooks(graph=True),
    IRQSOFF: Hooks(function="irqsoff_tracer_call"),
}

WITH_STACKS = "function_stack_trace_call"
"""The function tracer while func_stack_trace is on."""

WITH_TRIGGERS = "function_trigger_call"
"""What is behind ``ftrace_call`` while there are triggers; it calls the function tracer."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that the state of the guest's text follows from."""

    tracer: str = "nop"
    filters: tuple[str, ...] = ()
    notrace: tuple[str, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    stacks: bool = False

    @property
    def function(self) -> str | None:
        """The function tracer, triggers aside."""
        function = TRACERS[self.tracer].function
        return WITH_STACKS if self.stacks and self.tracer == "function" else function

    @property
    def hooks(self) -> Hooks:
        """What the port's slots call."""
        graph = TRACERS[self.tracer].graph
        return Hooks(WITH_TRIGGERS if self.triggers else self.function, graph)


class TracerControl:
    """The state of the tracer of one guest, and the only way to change it."""

    def __init__(self, image: Image, text: Text, cpus: Cpus) -> None:
        self._image = image
        self._text = text
        self._cpus = cpus
        self._dynamic = "ftrace_caller" in image.symbols
        self._setup = Setup()
        self._enabled: frozenset[CallSite] = frozenset()

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
        return self._setup.tracer

    @current.setter
    def current(self, tracer: str) -> None:
        if tracer not in self.available_tracers:
            raise UsageError(
                f"this guest has no tracer {tracer!r}",
                f"Tracers: {', '.join(self.available_tracers)}.",
            )
        self._switch(replace(self._setup, tracer=tracer))

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_filter``: trace only what these globs match; none lifts the filter.

        ``FUNCTION:COMMAND[:COUNT]`` arms a trigger and ``!FUNCTION:COMMAND`` takes it away;
        neither changes what is traced.
        """
        setup = self._setup
        for text in filter(is_trigger, globs):
            changed = change_triggers(setup.triggers, text, self.sites_of)
            setup = replace(setup, triggers=changed)
        filters = tuple(text for text in globs if not is_trigger(text))
        if filters or not globs:
            setup = replace(setup, filters=(*setup.filters, *filters) if append else filters)
        self._switch(setup)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_notrace``: never trace what these globs match; none lifts the filter."""
        before = self._setup.notrace if append else ()
        self._switch(replace(self._setup, notrace=(*before, *globs)))

    @property
    def triggers(self) -> list[Trigger]:
        """The function triggers that are armed, with the counts that are left of them."""
        return self._trigger_control.counts(self._setup.triggers)

    def sites_of(self, *globs: str) -> list[CallSite]:
        """The call sites of the functions that match any of the globs, by address."""
        names = select(self.available_filter_functions, globs)
        return [site for site in self._image.sites if site.function in names]

    @cached_property
    def _trigger_control(self) -> TriggerControl:
        return TriggerControl(self._image, self._text)

    def _switch(self, setup: Setup) -> None:
        if (setup.filters or setup.notrace) and not self._dynamic:
            raise UsageError(
                "a static guest traces every function", "Build it with DYNAMIC_FTRACE for filters."
            )
        if setup.triggers and setup.hooks.graph and not self._dynamic:
            raise UsageError(
                "a static guest has either function triggers or function_graph",
                "Build it with DYNAMIC_FTRACE for both.",
            )
        names = select(self.available_filter_functions, setup.filters, setup.notrace)
        on = setup.tracer != "nop"
        traced = {site for site in self._image.sites if on and site.function in names}
        armed = {trigger.site for trigger in setup.triggers}
        wanted = traced | {site for site in self._image.sites if site.address in armed}
        enabled = frozenset(wanted if self._dynamic else ())
        hooks = setup.hooks
        plan = PatchPlan([*self._slot_patches(hooks), *self._site_patches(enabled)])
        if setup.triggers or self._setup.triggers:
            target = 0 if setup.function is None else self._image.address_of(setup.function)
            hidden = {site.address for site in wanted - traced}
            self._trigger_control.write(self._rearmed(setup), hidden, target)
        # A stub may look at the pointers from the moment on that it can be reached.
        if hooks != Hooks():
            self._write_pointers(hooks)
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        if hooks == Hooks():
            self._write_pointers(hooks)
        self._setup, self._enabled = setup, enabled

    def _rearmed(self, setup: Setup) -> list[Trigger]:
        """The triggers, those that were armed before with what is left of their counts."""
        before = self._setup.triggers
        left = dict(zip(before, self._trigger_control.counts(before), strict=True))
        return [left.get(trigger, trigger) for trigger in setup.triggers]

    def _write_pointers(self, hooks: Hooks) -> None:
        """ftrace_trace_function, ftrace_graph_return and ftrace_graph_entry, as far as there."""
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

    def _slot_patches(self, hooks: Hooks) -> Iterable[Patch]:
        if not self._dynamic:
            return []
        old, new = self._slot_words(self._setup.hooks), self._slot_words(hooks)
        return [
            self._patch(address, (old[address],), (word,), self._image.symbolize(address))
            for address, word in new.items()
            if old[address] != word
        ]

    def _slot_words(self, hooks: Hooks) -> dict[int, int]:
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
        isa = self._image.isa
        # Behind a call without a delay slot the return register counts for nothing any more.
        slot = isa.call_return_offset > len(isa.words_to_bytes([0]))
        links = slot and isa.call_target(address, old[0]) is not None
        return Patch(address, isa.words_to_bytes(old), isa.words_to_bytes(new), what, links)
