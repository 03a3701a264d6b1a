# SPDX-License-Identifier: MIT
"""What a guest is made to trace: everything that the state of its text follows from."""

from dataclasses import dataclass

from harness.isa import CallSite
from harness.tracer.irqsoff import IRQSOFF
from harness.tracer.triggers import Trigger


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
    """A tracer, and what it is to trace.

    As in the kernel a filter is a set of call sites: globs are matched when they are set.
    ``chosen`` is None where every function is traced.
    """

    tracer: str = "nop"
    chosen: frozenset[CallSite] | None = None
    notrace: frozenset[CallSite] = frozenset()
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
