# SPDX-License-Identifier: MIT
"""The configuration of the tracer, which determines the state of the guest's text."""

from dataclasses import dataclass

from harness.isa import CallSite
from harness.tracer.irqsoff import IRQSOFF
from harness.tracer.triggers import Trigger


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a tracer needs: the function called from ``ftrace_call``, and whether returns are
    traced.
    """

    function: str | None = None
    graph: bool = False


TRACERS = {
    "nop": Hooks(),
    "function": Hooks(function="function_trace_call"),
    "function_graph": Hooks(graph=True),
    IRQSOFF: Hooks(function="irqsoff_tracer_call"),
}

WITH_STACKS = "function_stack_trace_call"
"""The function tracer with func_stack_trace."""

WITH_TRIGGERS = "function_trigger_call"
"""Called from ``ftrace_call`` if there are triggers; calls the function tracer."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A tracer and its filters.

    As in the kernel a filter is a set of call sites: globs are matched when they are set.
    ``chosen`` is None without a filter.
    """

    tracer: str = "nop"
    chosen: frozenset[CallSite] | None = None
    notrace: frozenset[CallSite] = frozenset()
    triggers: tuple[Trigger, ...] = ()
    stacks: bool = False

    @property
    def function(self) -> str | None:
        """The function tracer, without triggers."""
        function = TRACERS[self.tracer].function
        return WITH_STACKS if self.stacks and self.tracer == "function" else function

    @property
    def hooks(self) -> Hooks:
        """The hooks of the port's slots."""
        graph = TRACERS[self.tracer].graph
        return Hooks(WITH_TRIGGERS if self.triggers else self.function, graph)
