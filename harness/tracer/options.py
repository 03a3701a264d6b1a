# SPDX-License-Identifier: MIT
"""trace_options: the kernel's options, each with ``no`` before its name to disable it.

Some change what the guest records, others how a trace is shown.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from harness.errors import UsageError
from harness.trace import GraphOptions

STACKTRACE = "stacktrace"
FUNC_STACK_TRACE = "func_stack_trace"
GRAPH_IRQS = "funcgraph-irqs"
FUNC_ARGS = "func-args"
GRAPH_RETVAL = "funcgraph-retval"

RECORDED: Mapping[str, bool] = {
    STACKTRACE: False,
    FUNC_STACK_TRACE: False,
    GRAPH_IRQS: True,
    FUNC_ARGS: False,
    GRAPH_RETVAL: False,
}
"""Options that change what the guest records, with their defaults."""

SHOWN: Mapping[str, bool] = {
    f"funcgraph-{field.name}": bool(getattr(GraphOptions(), field.name))
    for field in fields(GraphOptions)
}
"""Options of the graph view; funcgraph-irqs is in both."""

OF_LINUX = {*RECORDED, *SHOWN} - {FUNC_ARGS, GRAPH_RETVAL}
"""Options that a Linux kernel does not set by itself; what is in no kernel is not known there."""

SHOWN_OPTIONS = frozenset(SHOWN) - frozenset(RECORDED)
"""Options that do not change a recording."""

_DEFAULTS = {**RECORDED, **SHOWN}


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The options that differ from their defaults."""

    changed: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> bool:
        return _DEFAULTS[name] != (name in self.changed)

    @property
    def words(self) -> list[str]:
        """The contents of ``trace_options``."""
        return [name if self[name] else f"no{name}" for name in _DEFAULTS]

    @property
    def graph(self) -> GraphOptions:
        """The options of the graph view."""
        return GraphOptions.parse(name if self[name] else f"no{name}" for name in SHOWN)

    def with_words(self, words: Iterable[str]) -> "TraceOptions":
        """These options after the words have been written one after the other.

        Raises:
            UsageError: a word is not an option.
        """
        changed = set(self.changed)
        for word in words:
            name = word.removeprefix("no")
            if name not in _DEFAULTS:
                near = difflib.get_close_matches(name, _DEFAULTS, n=3, cutoff=0.5)
                advice = f"Did you mean {', '.join(near)}?" if near else ""
                raise UsageError(
                    f"{word!r} is not an option",
                    advice or f"There are: {', '.join(_DEFAULTS)}; with no in front for off.",
                )
            on = not word.startswith("no")
            (changed.discard if on == _DEFAULTS[name] else changed.add)(name)
        return TraceOptions(frozenset(changed))
