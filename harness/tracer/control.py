# SPDX-License-Identifier: MIT
"""current_tracer, set_ftrace_filter and set_ftrace_notrace of a stopped live guest.

Only the port's patch points are changed: call sites, the instructions in the port's slots, and the
pointers of the specification.  A static guest has the pointers only.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from harness.errors import GuestError, UsageError
from harness.image import Image, RunningImage
from harness.isa import CallSite, SiteState
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.tracer.attributes import KnownAttributes
from harness.tracer.module_filter import change, choose, title
from harness.tracer.options import TraceOptions
from harness.tracer.profile import FunctionProfiler
from harness.tracer.setup import (
    TRACERS,
    WITH_ARGUMENTS,
    WITH_TRIGGERS,
    Hooks,
    Setup,
    has_graph_tracer,
    possible_setups,
    profiler_hooks,
)
from harness.tracer.sites import SiteNow, read_sites
from harness.tracer.slots import literal_of, pointers, slot_code
from harness.tracer.stack_tracer import STACK_TRACER, StackTable, StackTracer
from harness.tracer.triggers import Trigger, TriggerControl, change_triggers, is_trigger


@dataclass(frozen=True, slots=True)
class TracerState:
    """The state that belongs to a snapshot of the guest, whose text must agree with it."""

    setup: Setup = field(default_factory=Setup)
    enabled: frozenset[CallSite] = frozenset()
    options: TraceOptions = field(default_factory=TraceOptions)
    latency_trace: bool = False
    arguments: bool = False
    touched: frozenset[CallSite] = frozenset()


class TracerControl(KnownAttributes):
    """The tracer's state in one guest; every change goes through it."""

    def __init__(self, image: RunningImage, text: Text, cpus: Cpus) -> None:
        self._image = image
        self._text = text
        self._cpus = cpus
        self._dynamic = "ftrace_caller" in image.symbols
        self._setup = Setup()
        self._enabled: frozenset[CallSite] = frozenset()
        self._touched: frozenset[CallSite] = frozenset()

    def __repr__(self) -> str:
        on = f"{len(self._enabled)} of {len(self._image.sites)} call sites on"
        return f"<{type(self).__name__} {self.current}, {on}>"

    @property
    def state(self) -> TracerState:
        """The state of text and pointers.  Set it only after loading a snapshot."""
        return TracerState(self._setup, self._enabled, touched=self._touched)

    @state.setter
    def state(self, state: TracerState) -> None:
        self._setup, self._enabled = state.setup, state.enabled
        self._touched = state.touched

    @property
    def available_tracers(self) -> list[str]:
        """The values of ``current`` that this guest supports."""
        graph = has_graph_tracer(self._image.symbols)
        return [name for name, hooks in TRACERS.items() if graph or not hooks.graph]

    @property
    def available_filter_functions(self) -> list[str]:
        """All functions with a call site, by address: ``name``, or ``name [module]``."""
        return self._titles(self._image.sites)

    @property
    def enabled_functions(self) -> list[str]:
        """The functions with enabled call sites, by address."""
        return self._titles(self._enabled)

    @property
    def touched_functions(self) -> list[str]:
        """The functions with call sites that the harness has ever enabled, by address."""
        return self._titles(self._touched | self._enabled)

    @property
    def filter_functions(self) -> list[str] | None:
        """The functions of ``set_ftrace_filter``, by address; None without a filter."""
        chosen = self._setup.chosen
        return None if chosen is None else self._titles(chosen)

    @property
    def notrace_functions(self) -> list[str]:
        """The functions of ``set_ftrace_notrace``, by address."""
        return self._titles(self._setup.notrace)

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
        """``set_ftrace_filter``: trace only matching functions; without globs, all.

        ``!GLOB`` removes functions, the last one the filter.
        ``FUNCTION:mod:MODULE`` matches functions of modules (docs/modules.rst).
        ``FUNCTION:COMMAND[:COUNT]`` adds a trigger and ``!FUNCTION:COMMAND`` removes it; neither
        changes the filter.
        """
        setup = self._setup
        for text in filter(is_trigger, globs):
            changed = change_triggers(setup.triggers, text, self.sites_of)
            setup = replace(setup, triggers=changed)
        filters = [text for text in globs if not is_trigger(text)]
        if filters:
            before = setup.chosen if append and setup.chosen else frozenset()
            # As in the kernel, an empty filter is none.
            setup = replace(setup, chosen=change(self._image, before, filters) or None)
        elif not globs and not append:
            setup = replace(setup, chosen=None)
        self._switch(setup)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """``set_ftrace_notrace``: never trace matching functions; without globs, none.

        ``!GLOB`` removes functions from the list.
        """
        before = self._setup.notrace if append else frozenset()
        self._switch(replace(self._setup, notrace=change(self._image, before, globs)))

    @cached_property
    def profiler(self) -> FunctionProfiler:
        """The function profiler; `UsageError` for a guest without it."""
        return FunctionProfiler(self._image, self._text, lambda: self._setup, self._switch)

    @cached_property
    def stack(self) -> StackTracer:
        """The stack tracer; `FormatError` for a guest without it."""
        return StackTracer(self._image, self._stacks, lambda: self._setup, self._switch)

    @property
    def triggers(self) -> list[Trigger]:
        """The function triggers with their remaining counts."""
        return self._trigger_control.counts(self._setup.triggers)

    def sites_of(self, *globs: str) -> list[CallSite]:
        """The call sites of matching functions, by address; without globs, all."""
        chosen = choose(self._image, globs) if globs else self._image.sites
        return sorted(chosen, key=lambda site: site.address)

    def functions_of(self, *globs: str) -> list[str]:
        """The matching traceable functions, by address."""
        return self._titles(self.sites_of(*globs))

    def module_came(self) -> None:
        """A module was loaded, with its call sites disabled: enable those that should be traced.

        A filter that is already set does not include them.
        """
        self._switch(self._setup)

    def module_went(self, module: Image) -> None:
        """A module was unloaded.  A filter without any remaining site matches nothing."""
        gone = frozenset(module.sites)
        addresses = {site.ip for site in gone}
        setup = self._setup
        self._enabled -= gone
        self._touched -= gone
        left = replace(
            setup,
            chosen=None if setup.chosen is None else setup.chosen - gone,
            notrace=setup.notrace - gone,
            triggers=tuple(one for one in setup.triggers if one.site not in addresses),
            stack_chosen=None if setup.stack_chosen is None else setup.stack_chosen - gone,
        )
        if (left.triggers, left.stack_chosen) != (setup.triggers, setup.stack_chosen):
            self._switch(left)
        self._setup = left

    def sites(self) -> list[SiteNow]:
        """Every call site with its current code and state, by address."""
        return list(read_sites(self._image, self._text))

    def set_site(self, site: CallSite, on: bool) -> None:
        """Enable or disable one call site, whatever the filters say.

        The next change of the tracer or a filter overrides it.
        """
        if not self._dynamic:
            raise UsageError("the call sites of a static guest do not change")
        enabled = self._enabled | {site} if on else self._enabled - {site}
        plan = PatchPlan(
            [*self._site_patches(enabled), *self._literal_patches(enabled, self._setup.hooks)]
        )
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        self._enabled = enabled
        self._touched |= enabled

    def slots(self) -> dict[str, tuple[int, bytes]]:
        """The instructions in the port's slots by name, as address and current code."""
        if not self._dynamic:
            return {}
        return {
            self._image.symbolize(address): (address, self._text.dump_memory(address, len(code)))
            for address, code in sorted(slot_code(self._image, self._setup.hooks).items())
        }

    def adopt(self) -> None:
        """Take over a tracer that was enabled by other means, according to the guest's text.

        The enabled sites become the filter.  GuestError if the slots are those of no tracer.
        """
        arguments = WITH_ARGUMENTS in self._image.symbols
        setups = possible_setups(self.available_tracers, self._profiler, arguments=arguments)
        armed, behind = self._trigger_control.read()
        deepest = STACK_TRACER in self._image.symbols and self._stacks.enabled
        if armed or deepest:
            setups = [
                replace(setup, triggers=armed, stack_tracer=deepest)
                for setup in setups
                if behind == self._target_of(setup)
            ]
        found = [setup for setup in setups if self._is_set_up(setup.hooks)]
        if not found:
            raise GuestError(
                "the port's slots have instructions of no tracer of this guest",
                "Inspect them with gdb, or restart the guest.",
                "\n".join(
                    f"{name}: {line.text}"
                    for name, (address, code) in self.slots().items()
                    for line in self._image.isa.disassemble(code, address)
                ),
            )
        self._setup = found[0]
        if self._dynamic and self._setup.hooks != Hooks():
            now = self.sites()
            self._enabled = frozenset(one.site for one in now if one.state is SiteState.CALL)
            hidden = self._trigger_control.hidden if armed or deepest else set()
            traced = frozenset(site for site in self._enabled if site.ip not in hidden)
            if self._setup.traced and len(traced) < len(now):
                self._setup = replace(self._setup, chosen=traced)
            chosen = self._stacks.functions if deepest else []
            if chosen:
                sites = frozenset(one.site for one in now if one.site.ip in chosen)
                self._setup = replace(self._setup, stack_chosen=sites)

    def _is_set_up(self, hooks: Hooks) -> bool:
        """Whether slots and pointers are set for these hooks."""
        wanted = slot_code(self._image, hooks) if self._dynamic else {}
        wanted |= pointers(self._image, hooks)
        return all(
            self._text.dump_memory(address, len(code)) == code for address, code in wanted.items()
        )

    def _titles(self, sites: Iterable[CallSite]) -> list[str]:
        ordered = sorted(sites, key=lambda site: site.address)
        return [title(self._image, site) for site in ordered]

    @cached_property
    def _trigger_control(self) -> TriggerControl:
        return TriggerControl(self._image, self._text)

    def _switch(self, setup: Setup) -> None:
        setup.check(self._dynamic)
        every = frozenset(self._image.sites)
        traced: frozenset[CallSite] = frozenset()
        if setup.traced:
            traced = (every if setup.chosen is None else setup.chosen) - setup.notrace
        armed = {trigger.site for trigger in setup.triggers}
        wanted = traced | {site for site in self._image.sites if site.ip in armed}
        if setup.stack_tracer:
            wanted |= every if setup.stack_chosen is None else setup.stack_chosen
        enabled = wanted if self._dynamic else frozenset()
        hooks = setup.hooks
        plan = PatchPlan(
            [
                *self._slot_patches(hooks),
                *self._site_patches(enabled),
                *self._literal_patches(enabled, hooks),
            ]
        )
        if WITH_TRIGGERS in (hooks.function, self._setup.hooks.function):
            target = self._target_of(setup)
            hidden = {site.ip for site in wanted - traced} if setup.traced else ()
            self._trigger_control.write(self._rearmed(setup), hidden, target)
        if setup.stack_tracer or self._setup.stack_tracer:
            looked_at = [site.ip for site in setup.stack_chosen or ()]
            on = setup.stack_tracer and (setup.stack_chosen is None or bool(looked_at))
            self._stacks.write(on, looked_at)
        # A stub may use the pointers as soon as it is reachable.
        if hooks != Hooks():
            self._write_pointers(hooks)
        if len(plan):
            apply(plan, self._text, self._cpus, self._image.isa.disassemble)
        if hooks == Hooks():
            self._write_pointers(hooks)
        self._setup, self._enabled = setup, enabled
        self._touched |= enabled

    def _target_of(self, setup: Setup) -> int:
        """The address of the function tracer called by triggers, or 0."""
        return 0 if setup.function is None else self._image.pointer_to(setup.function)

    @cached_property
    def _profiler(self) -> Hooks | None:
        return profiler_hooks(self._image.symbols)

    @cached_property
    def _stacks(self) -> StackTable:
        return StackTable(self._image, self._text)

    def _rearmed(self, setup: Setup) -> list[Trigger]:
        """The triggers; those that were set before keep their remaining counts."""
        before = self._setup.triggers
        left = dict(zip(before, self._trigger_control.counts(before), strict=True))
        return [left.get(trigger, trigger) for trigger in setup.triggers]

    def _write_pointers(self, hooks: Hooks) -> None:
        for address, value in pointers(self._image, hooks).items():
            self._text.restore_memory(address, value)

    def _slot_patches(self, hooks: Hooks) -> Iterable[Patch]:
        if not self._dynamic:
            return []
        old, new = (slot_code(self._image, one) for one in (self._setup.hooks, hooks))
        return [
            self._patch(address, old[address], code, self._image.symbolize(address))
            for address, code in new.items()
            if old[address] != code
        ]

    def _site_patches(self, enabled: frozenset[CallSite]) -> Iterable[Patch]:
        for site in enabled ^ self._enabled:
            caller = self._image.target_of(site, "ftrace_caller")
            code = {
                state: self._image.isa.sites.code_for(site, state, caller)
                for state in (SiteState.NOP, SiteState.CALL)
            }
            on = site in enabled
            old, new = (SiteState.NOP, SiteState.CALL) if on else (SiteState.CALL, SiteState.NOP)
            yield self._patch(
                site.address, code[old], code[new], f"the call site of {title(self._image, site)}"
            )

    def _literal_patches(self, enabled: frozenset[CallSite], hooks: Hooks) -> Iterable[Patch]:
        """The ops of sites that have one each."""
        for site in enabled | self._enabled if self._image.literal_size else ():
            old = literal_of(self._image, self._setup.hooks if site in self._enabled else None)
            new = literal_of(self._image, hooks if site in enabled else None)
            if old != new:
                what = f"the ops of {title(self._image, site)}"
                yield self._patch(site.literal, old, new, what)

    def _patch(self, address: int, old: bytes, new: bytes, what: str) -> Patch:
        isa = self._image.isa
        # The return register matters only in the delay slot of a call.
        calls = isa.sites.call_target(address, old) is not None
        slot = isa.cpu.delay_slot if calls else 0
        return Patch(address, old, new, what, slot, isa.unit)
