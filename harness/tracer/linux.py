# SPDX-License-Identifier: MIT
"""The tracer of a Linux guest, by the same controls as that of a guest of the harness."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property

from harness.errors import GuestError, HarnessError, UsageError
from harness.isa import CallSite, SiteState
from harness.linux import Kernel
from harness.linux.calls import KernelCalls
from harness.linux.formats import LinuxEvents
from harness.linux.function import FunctionSwitch, write_flags
from harness.linux.hashes import FunctionFilter
from harness.linux.modules import loaded_modules
from harness.linux.options import KernelOptions
from harness.linux.pids import PidLists
from harness.linux.printk import formats_text, printk_formats
from harness.linux.records import DISABLED, SiteRecords, call_sites
from harness.linux.tasks import task_names
from harness.patcher import Cpus, Patch, PatchPlan, Text, apply
from harness.readout import EventBuffer
from harness.trace import EventFormat, event_formats
from harness.tracer.events import matches
from harness.tracer.graph import GraphControl
from harness.tracer.linux_graph import LinuxGraphMemory
from harness.tracer.options import FUNC_STACK_TRACE, GRAPH_IRQS, OF_LINUX, STACKTRACE
from harness.tracer.pids import PidList
from harness.tracer.setup import Setup
from harness.tracer.sites import SiteNow
from harness.tracer.tracer import Tracer
from harness.units import KIB

GAP = 64 * KIB
"""Call sites closer than this are written together: a kernel has ten thousands of them."""

MEMORY_TRACERS = ("nop", "function")
"""Tracers that are switched by writes to memory."""

GRAPH = "function_graph"
"""The tracer that the kernel itself is asked to switch on: it allocates memory for each task."""


class LinuxTracer(Tracer):
    """The files of tracefs for a stopped Linux kernel."""

    def __init__(
        self,
        kernel: Kernel,
        text: Text,
        cpus: Cpus,
        buffer: EventBuffer,
        calls: KernelCalls,
    ) -> None:
        super().__init__(kernel.image, text, cpus, buffer)
        self._calls = calls
        self._kernel = kernel
        self._linux_events = LinuxEvents(kernel)
        self._formats: list[EventFormat] = []
        self._filter = FunctionFilter(kernel, calls)
        self._kernel_options = KernelOptions(kernel, calls)
        self._pid_lists = PidLists(kernel, calls)
        self._names_saved = self._untold = False
        self._printk: dict[int, str] = {}
        self.learn()

    def learn(self) -> None:
        """Read the kernel's modules and call sites."""
        kernel = self._kernel
        modules = loaded_modules(kernel)
        kernel.image.learn([], modules)
        self._records = SiteRecords(kernel)
        kernel.image.learn(call_sites(kernel, self._records), modules)

    def _follow_kernel(self) -> None:
        """Forget call sites that are gone: of freed boot code, and of unloaded modules."""
        records = SiteRecords(self._kernel)
        if records.pages == self._records.pages:
            self._records = records
            return
        before = frozenset(self._image.sites)
        self.learn()
        every = frozenset(self._image.sites)
        self._enabled &= every
        if self.by_memory:
            # The kernel itself traces the functions of a module that is loaded after that.
            self._enabled |= frozenset(self._flagged()) & (every - before)

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """As of `TracerControl`, also with functions of modules that were loaded since."""
        self._follow_kernel()
        super().set_filter(*globs, append=append)

    def set_notrace(self, *globs: str, append: bool = False) -> None:
        """As of `TracerControl`, also with functions of modules that were loaded since."""
        self._follow_kernel()
        super().set_notrace(*globs, append=append)

    def sites_of(self, *globs: str) -> list[CallSite]:
        """As of `TracerControl`, also of modules that were loaded since."""
        self._follow_kernel()
        return super().sites_of(*globs)

    @cached_property
    def _function(self) -> FunctionSwitch:
        return FunctionSwitch(self._kernel)

    @cached_property
    def graph(self) -> GraphControl:
        """As of `Tracer`; to set a list lets the kernel run for a moment."""
        memory = LinuxGraphMemory(self._kernel, self._calls)
        return GraphControl(self._image, memory, self.sites_of)

    @property
    def by_memory(self) -> bool:
        """Whether the tracer was switched on by memory writes, so that the kernel knows little."""
        return self.current not in ("nop", GRAPH)

    def give_way(self) -> None:
        """The kernel is about to switch tracers by itself: ours is switched off before that."""
        self._switch(replace(self._setup, tracer="nop"))

    @property
    def available_tracers(self) -> list[str]:
        """The values of ``current`` that can be set from outside."""
        own = [GRAPH] if GRAPH in self._calls.tracers() else []
        return [*MEMORY_TRACERS, *own]

    def adopt(self) -> None:
        """Take over the tracer that the kernel uses.

        GuestError if the kernel uses its call sites in another way.
        """
        if not self._function.users:
            return
        if self._function.tracer != "function" or not self._function.is_ours:
            self._function.check_free()
        self._enabled = frozenset(self._flagged())
        chosen = None if len(self._enabled) == len(self._image.sites) else self._enabled
        self._setup = Setup("function", chosen)

    def sites(self) -> list[SiteNow]:
        """Every call site with its current code and state, by address."""
        isa, image = self._image.isa, self._image
        size = isa.linux.longest
        plan = PatchPlan(
            Patch(site.address, bytes(size), bytes(size), "a site") for site in image.sites
        )
        found = []
        by_address = {site.address: site for site in image.sites}
        for span in plan.spans():
            memory = self._text.dump_memory(span.address, span.size)
            for patch in span.patches:
                site, code = by_address[patch.address], span.found(memory, patch)
                module = code if image.module_at(site.address) else b""
                off, on = isa.linux.codes(site.address, image.symbols, module)
                state = SiteState.UNKNOWN
                if code.startswith(on):
                    state = SiteState.CALL
                elif code.startswith(off):
                    state = SiteState.NOP
                found.append(SiteNow(site, code[: len(off)], state))
        return found

    def _flagged(self) -> Iterable[CallSite]:
        flags = {record.ip: record.flags & ~DISABLED for record in self._records}
        return (site for site in self._image.sites if flags.get(site.address))

    def _switch(self, setup: Setup) -> None:
        if setup.triggers:
            raise UsageError(
                "a Linux guest has no function triggers from outside",
                "Set them in the guest, in its own set_ftrace_filter.",
            )
        self._follow_kernel()
        if GRAPH in (self.current, setup.tracer):
            self._switch_graph(setup)
            return
        before, on = self._setup.tracer != "nop", setup.tracer != "nop"
        same = (setup.chosen, setup.notrace) == (self._setup.chosen, self._setup.notrace)
        if before and on and not same and self._calls.ready:
            # The list of an enabled tracer is changed by the kernel, call site by call site.
            self._switch(replace(self._setup, tracer="nop"))
            before = False
        if on and not before:
            self._function.check_free()
            self._put_filter(setup)
        elif before and not on:
            self._function.check_ours()
        enabled = self._wanted(setup) if on else frozenset()
        changed = {site: site in enabled for site in enabled ^ self._enabled}
        plan = PatchPlan([*self._site_changes(changed), *self._slot_changes(before, on)])
        written = self._function.store(self._function.writes(on)) if on and not before else {}
        try:
            if len(plan):
                apply(plan, self._text, self._cpus, self._image.isa.disassemble, GAP)
        except BaseException:
            with suppress(HarnessError):
                self._function.store(written)
            raise
        if before and not on:
            self._function.store(self._function.writes(False))
            self._filter.restore()
        if changed:
            write_flags(self._records, changed, self._function.traced)
        self._setup, self._enabled = setup, enabled
        self._save_names(on)

    def tell_kernel(self) -> bool:
        """Give the kernel the filter of a tracer that stays on; False if it cannot be called."""
        if self.by_memory and self._untold and self._calls.ready:
            self._put_filter(self._setup)
        return not (self.by_memory and self._untold)

    def _put_filter(self, setup: Setup) -> None:
        """Pass the traced call sites to the kernel, if it can be called where it is stopped."""
        wanted = self._wanted(setup)
        if setup.chosen is None and (not setup.notrace or self._calls.ready):
            self._filter.put(None, [site.address for site in setup.notrace])
        elif wanted and self._calls.ready:
            self._filter.put([site.address for site in wanted])
        self._untold = not self._filter.is_put

    def _save_names(self, on: bool) -> None:
        """Let the kernel save the names of tasks, as its own tracers do."""
        if on != self._names_saved and self._calls.ready:
            self._names_saved = self._calls.record_names(on)

    def _switch_graph(self, setup: Setup) -> None:
        """To the graph tracer or away from it, by the kernel's own functions."""
        if self.current == GRAPH:
            self._calls.set_tracer("nop")
            self._filter.restore()
            self._setup, self._enabled = replace(self._setup, tracer="nop"), frozenset()
        if setup.tracer != GRAPH:
            self._switch(setup)
            return
        if self.current != "nop":
            self._switch(replace(self._setup, tracer="nop"))
        self._function.check_free()
        wanted = self._wanted(setup)
        if not wanted:
            raise UsageError("no function is left to trace", "Choose others, or all.")
        self._calls.prepare()
        self._put_filter(setup)
        try:
            self._calls.set_tracer(GRAPH)
        except HarnessError:
            self._filter.restore()
            raise
        self._setup, self._enabled = setup, wanted

    def _wanted(self, setup: Setup) -> frozenset[CallSite]:
        every = frozenset(self._image.sites)
        return (every if setup.chosen is None else setup.chosen & every) - setup.notrace

    def _site_changes(self, changed: dict[CallSite, bool]) -> Iterable[Patch]:
        isa, symbols = self._image.isa, self._image.symbols
        for site, on in changed.items():
            module = self._image.module_at(site.address)
            found = self._text.dump_memory(site.address, isa.linux.longest) if module else b""
            off_code, on_code = isa.linux.codes(site.address, symbols, found)
            old, new = (off_code, on_code) if on else (on_code, off_code)
            name = f"{site.function} [{module}]" if module else site.function
            yield self._patch(site.address, old, new, f"the call site of {name}")
            if self._function.has_call_ops:
                where, after = isa.linux.ops(site.address), self._function.ops(on)
                before = self._function.ops_before(on, where if module else 0)
                yield Patch(where, before, after, f"the ops of {name}", 0, isa.unit)

    def _slot_changes(self, before: bool, on: bool) -> Iterable[Patch]:
        if before == on or self._function.has_call_ops:
            return []
        slot, sites = self._function.slot, self._image.isa.sites
        old = self._text.dump_memory(slot, len(sites.nop))
        new = sites.encode_call(slot, self._function.callee(on))
        if old != sites.nop and sites.call_target(slot, old) is None:
            raise GuestError(
                f"ftrace_call of {self._image.name} at {slot:#x} has neither a nop nor a call",
                "This kernel has a form of stub that the harness does not know.",
            )
        return [] if old == new else [self._patch(slot, old, new, "ftrace_call")]

    @property
    def trace_options(self) -> list[str]:
        """The contents of ``trace_options``: also those that only the kernel has."""
        own = [word for word in self._options.words if word.removeprefix("no") in OF_LINUX]
        names = {word.removeprefix("no") for word in own}
        others = self._kernel_options.read()
        return [
            *own,
            *(one if on else f"no{one}" for one, on in others.items() if one not in names),
        ]

    def set_option(self, *words: str) -> None:
        """As of `Tracer`; further options are set by the kernel itself."""
        own = [word for word in words if word.removeprefix("no") in OF_LINUX]
        options = self._options.with_words(own)
        for name in (STACKTRACE, FUNC_STACK_TRACE, GRAPH_IRQS):
            if options[name] != self._options[name]:
                self._set_recorded(name, options[name])
        for word in words:
            if word not in own:
                self._kernel_options.set(word.removeprefix("no"), not word.startswith("no"))
        self._options = options

    def _set_recorded(self, name: str, on: bool) -> None:
        with self._switched_off(name == FUNC_STACK_TRACE and self.by_memory):
            self._kernel_options.set(name, on)
            if name == GRAPH_IRQS and "ftrace_graph_skip_irqs" in self._image.symbols:
                self._kernel.store(self._image.symbols["ftrace_graph_skip_irqs"], not on, 4)

    @contextmanager
    def _switched_off(self, needed: bool) -> Iterator[None]:
        """The tracer is off in the block if ``needed``; after an error it stays so."""
        setup = self._setup
        if needed:
            self._switch(replace(setup, tracer="nop"))
        yield
        if needed:
            self._switch(setup)

    def set_event(self, *patterns: str, append: bool = False) -> None:
        """As of `EventControl`, by the kernel's own functions."""
        before = self._linux_events.enabled()
        if not patterns and not before:
            return
        events = [one for one in self._linux_events.all() if one.system != "ftrace"]
        chosen = set(before) if append else set()
        for pattern in patterns:
            wanted = pattern.removeprefix("!")
            found = {one.address for one in events if matches(f"{one.system}:{one.name}", wanted)}
            if not found:
                raise UsageError(
                    f"this kernel has no event {wanted!r}",
                    "List them in the shell: available_events.",
                )
            chosen = chosen - found if pattern.startswith("!") else chosen | found
        for event in events:
            if (event.address in chosen) != (event.address in before):
                self._calls.set_event(event, event.address in chosen)

    def set_pids(self, which: PidList, pids: Sequence[int]) -> None:
        """As of `Tracer`, by the kernel's own functions; the notrace lists are not possible."""
        if which is PidList.FTRACE:
            with self._switched_off(self.by_memory):
                self._pid_lists.set_functions(pids)
        elif which is PidList.EVENT:
            self._pid_lists.set_events(pids)
        else:
            raise UsageError(f"{which} of a Linux kernel cannot be set from outside")

    def pids(self, which: PidList) -> list[int]:
        """A `UsageError`: the kernel's lists are trees of bits."""
        raise UsageError("the list of pids of a Linux kernel cannot be read from outside")

    @property
    def available_events(self) -> list[str]:
        """All events of the kernel, as ``SYSTEM:EVENT``."""
        return sorted(
            f"{one.system}:{one.name}" for one in self._linux_events.all() if one.system != "ftrace"
        )

    @property
    def enabled_events(self) -> list[str]:
        """The contents of ``set_event``."""
        on = self._linux_events.enabled()
        return sorted(
            f"{one.system}:{one.name}" for one in self._linux_events.all() if one.address in on
        )

    def clear(self) -> None:
        """Delete all events read so far."""
        self._collector.clear()

    def remember_names(self) -> dict[int, str]:
        """As of `Tracer`, without values that cannot be read from a damaged kernel."""
        with suppress(GuestError):
            self._cmdlines |= task_names(self._kernel)
        return self._cmdlines

    def _printk_formats(self, ask: bool) -> str:
        if ask:
            with suppress(GuestError):
                self._printk |= printk_formats(self._kernel)
        return formats_text(self._printk)

    @property
    def _machine(self) -> str:
        return "Linux"

    def _event_formats(self, long_size: int, ask: bool) -> Sequence[EventFormat]:
        """The formats of the running kernel; it has none before trace_event_init()."""
        if ask:
            with suppress(GuestError):
                self._follow_kernel()
                # Those of modules come and go, and their events stay.
                self._formats = self._linux_events.formats(self._formats)
        return self._formats or event_formats(long_size)
