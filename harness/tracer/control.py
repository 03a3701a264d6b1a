# SPDX-License-Identifier: MIT
"""current_tracer, set_ftrace_filter and set_ftrace_notrace of a stopped live guest.

Switching goes through the port's own points only: the call sites of the chosen functions, the words
that the port's slots hold, and the pointers that the specification names.  A static guest has the
pointers alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import GuestError, UsageError
from harness.image import Image, RunningImage
from harness.isa import CallSite, SiteState
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.tracer.irqsoff import IRQSOFF
from harness.tracer.module_filter import choose, title
from harness.tracer.sites import SiteNow, read_sites


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


class TracerControl:
    """The state of the tracer of one guest, and the only way to change it."""

    def __init__(self, image: RunningImage, text: Text, cpus: Cpus) -> None:
        self._image = image
        self._text = text
        self._cpus = cpus
        self._dynamic = "ftrace_caller" in image.symbols
        self._current = "nop"
        # As in the kernel, a filter is a set of call sites: globs are matched when they are set.
        self._filter: frozenset[CallSite] | None = None
        self._notrace: frozenset[CallSite] = frozenset()
        self._enabled: frozenset[CallSite] = frozenset()

    @property
    def available_tracers(self) -> list[str]:
        """What ``current`` may be set to on this guest."""
        graph = "ftrace_graph_caller" in self._image.symbols
        return [name for name, hooks in TRACERS.items() if graph or not hooks.graph]

    @property
    def available_filter_functions(self) -> list[str]:
        """Every function that has a call site, by address: ``name``, or ``name [module]``."""
        return [title(self._image, site) for site in self._image.sites]

    @property
    def enabled_functions(self) -> list[str]:
        """The functions whose call sites call the tracer now, by address."""
        enabled = sorted(self._enabled, key=lambda site: site.address)
        return [title(self._image, site) for site in enabled]

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
        self._switch(tracer, self._filter, self._notrace)

    @property
    def filter_functions(self) -> list[str] | None:
        """The functions of ``set_ftrace_filter``, by address; None when every one is traced."""
        return None if self._filter is None else self._titles(self._filter)

    @property
    def notrace_functions(self) -> list[str]:
        """The functions of ``set_ftrace_notrace``, by address."""
        return self._titles(self._notrace)

    def functions_of(self, *globs: str) -> list[str]:
        """The traceable functions that any of the globs matches, by address."""
        return self._titles(self.sites_of(*globs))

    def _titles(self, sites: Iterable[CallSite]) -> list[str]:
        ordered = sorted(sites, key=lambda site: site.address)
        return [title(self._image, site) for site in ordered]

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_filter``: trace only what these globs match; none lifts the filter.

        ``FUNCTION:mod:MODULE`` matches functions of modules (docs/modules.rst).
        """
        chosen = choose(self._image, globs)
        if append:
            chosen |= self._filter or frozenset()
        lifted = not globs and not (append and self._filter is not None)
        self._switch(self._current, None if lifted else chosen, self._notrace)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_notrace``: never trace what these globs match; none lifts the filter."""
        chosen = choose(self._image, globs) | (self._notrace if append else frozenset())
        self._switch(self._current, self._filter, chosen)

    def adopt(self) -> None:
        """Take over the tracer as the guest's text says it is: somebody else switched it on.

        What is traced becomes the filter.  GuestError if the slots are those of no tracer.
        """
        if not self._dynamic:
            self._current = self._pointed_tracer()
            return
        held = {address: self._word_at(address) for address in self._slot_words("nop")}
        for tracer in self.available_tracers:
            if self._slot_words(tracer) == held:
                break
        else:
            raise GuestError(
                "the slots of the port hold what no tracer of this guest puts there",
                "Look at them with gdb, or start the guest afresh.",
                "\n".join(
                    f"{self._image.symbolize(at)}: {word:#010x}" for at, word in held.items()
                ),
            )
        self._current = tracer
        if tracer != "nop":
            now = self.sites()
            self._enabled = frozenset(one.site for one in now if one.state is SiteState.CALL)
            if len(self._enabled) < len(now):
                self._filter = self._enabled

    def _word_at(self, address: int) -> int:
        return self._image.isa.bytes_to_words(self._text.dump_memory(address, 4))[0]

    def _pointed_tracer(self) -> str:
        image = self._image
        for tracer, wanted in ((one, self._pointers(one)) for one in self.available_tracers):
            if all(
                int.from_bytes(
                    self._text.dump_memory(image.symbols[pointer], image.isa.word_size),
                    image.byteorder,
                )
                == image.address_of(function)
                for pointer, function in wanted.items()
            ):
                return tracer
        raise GuestError("the pointers of the port point to what no tracer of this guest is")

    def set_site(self, site: CallSite, on: bool) -> None:
        """Make one call site call the tracer, or not, whatever the filters say.

        The next change of the tracer or a filter decides over it again.
        """
        if not self._dynamic:
            raise UsageError("the call sites of a static guest do not change")
        enabled = self._enabled | {site} if on else self._enabled - {site}
        plan = PatchPlan(self._site_patches(enabled))
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        self._enabled = enabled

    def slots(self) -> dict[str, tuple[int, int]]:
        """The words of the port that say which tracer is called: (address, word now), by name."""
        if not self._dynamic:
            return {}
        return {
            self._image.symbolize(address): (address, self._word_at(address))
            for address in sorted(self._slot_words(self._current))
        }

    def sites_of(self, *globs: str) -> list[CallSite]:
        """The call sites of the functions that match any of the globs, by address."""
        chosen = choose(self._image, globs) if globs else self._image.sites
        return sorted(chosen, key=lambda site: site.address)

    def module_came(self) -> None:
        """A module's call sites are there, off: those that the filters choose go on.

        A filter that was set before does not know them.
        """
        self._switch(self._current, self._filter, self._notrace)

    def module_went(self, module: Image) -> None:
        """Its call sites are no more.  A filter that has lost all of its sites chooses none."""
        gone = frozenset(module.sites)
        self._enabled -= gone
        self._notrace -= gone
        if self._filter is not None:
            self._filter -= gone

    def sites(self) -> list[SiteNow]:
        """Every call site with its words and its state as they are now, by address."""
        return list(read_sites(self._image, self._text))

    def _switch(
        self, tracer: str, chosen: frozenset[CallSite] | None, notrace: frozenset[CallSite]
    ) -> None:
        if (chosen is not None or notrace) and not self._dynamic:
            raise UsageError(
                "a static guest traces every function", "Build it with DYNAMIC_FTRACE for filters."
            )
        enabled: frozenset[CallSite] = frozenset()
        if self._dynamic and tracer != "nop":
            enabled = (frozenset(self._image.sites) if chosen is None else chosen) - notrace
        plan = PatchPlan([*self._slot_patches(tracer), *self._site_patches(enabled)])
        # A stub may look at the pointers from the moment on that it can be reached.
        if tracer != "nop":
            self._write_pointers(tracer)
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        if tracer == "nop":
            self._write_pointers(tracer)
        self._current, self._filter, self._notrace = tracer, chosen, notrace
        self._enabled = enabled

    def _write_pointers(self, tracer: str) -> None:
        """Store the pointers of a tracer."""
        image = self._image
        for pointer, function in self._pointers(tracer).items():
            value = image.address_of(function).to_bytes(image.isa.word_size, image.byteorder)
            self._text.restore_memory(image.symbols[pointer], value)

    def _pointers(self, tracer: str) -> dict[str, str]:
        """ftrace_trace_function, ftrace_graph_return and ftrace_graph_entry, as far as there."""
        hooks = TRACERS[tracer]
        wanted = {
            "ftrace_trace_function": hooks.function or "ftrace_stub",
            "ftrace_graph_return": "trace_graph_return" if hooks.graph else "ftrace_stub",
            "ftrace_graph_entry": "trace_graph_entry" if hooks.graph else "ftrace_graph_entry_stub",
        }
        return {
            pointer: function
            for pointer, function in wanted.items()
            if pointer in self._image.symbols
        }

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
            caller = self._image.target_of(site, "ftrace_caller")
            words = {
                state: self._image.isa.site_words(site, state, caller)
                for state in (SiteState.NOP, SiteState.CALL)
            }
            on = site in enabled
            old, new = (SiteState.NOP, SiteState.CALL) if on else (SiteState.CALL, SiteState.NOP)
            yield self._patch(
                site.address,
                words[old],
                words[new],
                f"the call site of {title(self._image, site)}",
            )

    def _patch(self, address: int, old: tuple[int, ...], new: tuple[int, ...], what: str) -> Patch:
        to_bytes = self._image.isa.words_to_bytes
        return Patch(address, to_bytes(old), to_bytes(new), what)
