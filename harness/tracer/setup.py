# SPDX-License-Identifier: MIT
"""The configuration of the tracer, which determines the state of the guest's text."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from harness.errors import UsageError
from harness.isa import CallSite
from harness.tracer.irqsoff import IRQSOFF
from harness.tracer.triggers import Trigger


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a tracer needs: the function called from ``ftrace_call``, and whose callbacks the graph
    tracer's stubs call: ``trace`` or ``profile``, or empty if returns are not traced.
    """

    function: str | None = None
    graph: str = ""


TRACERS = {
    "nop": Hooks(),
    "function": Hooks(function="function_trace_call"),
    "function_graph": Hooks(graph="trace"),
    IRQSOFF: Hooks(function="irqsoff_tracer_call"),
}

WITH_STACKS = "function_stack_trace_call"
"""The function tracer with func_stack_trace."""

WITH_ARGUMENTS = "function_args_trace_call"
"""The function tracer with func-args, in guests whose tracers get arguments."""

WITH_TRIGGERS = "function_trigger_call"
"""Called from ``ftrace_call`` if there are triggers, or for the stack tracer; calls the function
tracer."""

GRAPH_FUNC = "ftrace_graph_func"
"""The graph tracer's function in ports with one slot."""

PROFILES = "function_profiles"
"""The tables of the function profiler, in guests that have it."""

PROFILE = "function_profile_call"
"""The function profiler of guests without the graph tracer, which counts calls only."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A tracer and its filters.

    As in the kernel a filter is a set of call sites: globs are matched when they are set.
    ``chosen`` is None without a filter.  ``profile`` is what the function profiler needs, if it is
    on: the same functions are counted as are traced.  The stack tracer has its own filter.
    """

    tracer: str = "nop"
    chosen: frozenset[CallSite] | None = None
    notrace: frozenset[CallSite] = frozenset()
    triggers: tuple[Trigger, ...] = ()
    stacks: bool = False
    arguments: bool = False
    profile: Hooks = Hooks()
    stack_tracer: bool = False
    stack_chosen: frozenset[CallSite] | None = None

    @property
    def function(self) -> str | None:
        """The function tracer, without triggers."""
        function = TRACERS[self.tracer].function or self.profile.function
        if self.tracer != "function" or not (self.stacks or self.arguments):
            return function
        return WITH_STACKS if self.stacks else WITH_ARGUMENTS

    @property
    def hooks(self) -> Hooks:
        """The hooks of the port's slots."""
        dispatched = self.triggers or self.stack_tracer
        graph = TRACERS[self.tracer].graph or self.profile.graph
        return Hooks(WITH_TRIGGERS if dispatched else self.function, graph)

    @property
    def traced(self) -> bool:
        """Whether functions are traced or profiled, and not only looked at by triggers."""
        return self.tracer != "nop" or self.profile != Hooks()

    def check(self, dynamic: bool) -> None:
        """UsageError if a guest, with call sites that change if ``dynamic``, cannot have this."""
        tracer, hooks = TRACERS[self.tracer], self.hooks
        filters = (self.chosen, self.stack_chosen, self.notrace or None)
        if not dynamic and any(one is not None for one in filters):
            raise UsageError(
                "a static guest traces every function", "Build it with DYNAMIC_FTRACE for filters."
            )
        if self.stacks and self.arguments:
            raise UsageError(
                "the function tracer records either stacks or arguments",
                "Set nofunc_stack_trace, or nofunc-args.",
            )
        if tracer.graph and self.profile.graph:
            raise UsageError(
                "function_graph and the function profiler need the same callbacks",
                "Set current_tracer nop, or function_profile_enabled 0, first.",
            )
        if tracer.function and self.profile.function:
            raise UsageError(
                f"without the graph tracer there is either {self.tracer} or the function profiler",
                "Set current_tracer nop, or function_profile_enabled 0, first.",
            )
        if not dynamic and hooks.function and hooks.graph:
            raise UsageError(
                "a static guest traces either entries of functions (function, irqsoff, triggers, "
                "the stack tracer) or also returns (function_graph, the function profiler)",
                "Build it with DYNAMIC_FTRACE for both.",
            )


def has_graph_tracer(symbols: Container[str]) -> bool:
    """Whether a guest with these symbols has the graph tracer."""
    return any(name in symbols for name in ("ftrace_graph_caller", "ftrace_graph_call", GRAPH_FUNC))


def profiler_hooks(symbols: Container[str]) -> Hooks | None:
    """The setup of the function profiler of a guest with these symbols; None without a profiler."""
    if PROFILES not in symbols:
        return None
    return Hooks(graph="profile") if has_graph_tracer(symbols) else Hooks(PROFILE)


def possible_setups(
    tracers: Iterable[str], profiler: Hooks | None, *, arguments: bool = False
) -> list[Setup]:
    """The setups without filters and triggers that a guest with these tracers may be in.

    ``arguments``: its function tracer can record arguments.
    """
    found = [*map(Setup, tracers), Setup("function", stacks=True)]
    found += [Setup("function", arguments=True)] if arguments else []
    if profiler is None:
        return found
    return found + [
        replace(one, profile=profiler)
        for one in found
        if not ((one.hooks.graph and profiler.graph) or (one.function and profiler.function))
    ]
