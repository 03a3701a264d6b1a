# SPDX-License-Identifier: MIT
"""What can stand where the cursor is: verbs, functions, tracers, files, and what gdb knows."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import ClassVar

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from harness.config import list_configs
from harness.conformance import load_catalogue
from harness.errors import HarnessError
from harness.shell.session import Session
from harness.shell.verb import VERBS
from harness.trace import VIEWS

# What stands behind trace-cmd's options, whatever the verb takes otherwise.
_FOLLOWS = {
    "-p": "tracers",
    "-l": "functions",
    "-n": "functions",
    "-g": "functions",
    "-f": "views",
    "-o": "files",
    "--until": "functions",
}

LIMIT = 200
"""Completions that are offered at once."""


class LineCompleter(Completer):
    """Completes the last word of a line; the guest is asked only while it is stopped."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        """Called by prompt_toolkit with every key, or with Tab."""
        text = document.text_before_cursor.lstrip()
        words = text.split()
        if not words or (len(words) == 1 and not text.endswith(" ")):
            prefix = words[0] if words else ""
            found = [name for name in VERBS if name.startswith(prefix)]
            yield from self._offer(found, prefix)
            if prefix and not found:
                yield from self._gdb(text)
            return
        prefix = "" if text.endswith(" ") else words[-1]
        if words[0] in ("cat", "echo") and (words[0] == "cat" or ">" in text):
            yield from self._offer([name for name in VERBS if name.startswith(prefix)], prefix)
            return
        verb = VERBS.get(words[0])
        if verb is None:
            yield from self._gdb(text)
        elif (words if text.endswith(" ") else words[:-1])[-1] in _FOLLOWS:
            option = (words if text.endswith(" ") else words[:-1])[-1]
            yield from self._of_kind(_FOLLOWS[option], prefix, event)
        else:
            yield from self._of_kind(verb.completes, prefix, event)

    def _of_kind(self, kind: str, prefix: str, event: CompleteEvent) -> Iterator[Completion]:
        if kind == "files" and not prefix.startswith("-"):
            yield from self._paths.get_completions(Document(prefix), event)
        elif kind in self._kinds:
            names: Iterable[str] = ()
            # A guest that is gone has no events to offer.
            with suppress(HarnessError):
                names = list(self._kinds[kind](self))
            yield from self._offer([name for name in names if name.startswith(prefix)], prefix)

    def _functions(self) -> Iterable[str]:
        return sorted({site.function for site in self._session.guest.image.sites})

    def _tracers(self) -> Iterable[str]:
        return self._session.guest.tracer.available_tracers

    def _events(self) -> Iterable[str]:
        return self._session.guest.tracer.available_events

    def _options(self) -> Iterable[str]:
        names = [word.removeprefix("no") for word in self._session.guest.tracer.trace_options]
        return [*names, *(f"no{name}" for name in names)]

    def _snapshots(self) -> Iterable[str]:
        return self._session.snapshots

    def _clauses(self) -> Iterable[str]:
        return [clause.id for clause in load_catalogue().clause]

    def _sites(self) -> Iterable[str]:
        sites = self._session.guest.image.sites
        return [*self._functions(), *(f"{site.address:#x}" for site in sites)]

    def _modules(self) -> Iterable[str]:
        return [module.name for module in self._session.guest.modules.loaded]

    def _configs(self) -> Iterable[str]:
        return list_configs()

    def _views(self) -> Iterable[str]:
        return VIEWS

    def _verbs(self) -> Iterable[str]:
        return sorted(VERBS)

    _kinds: ClassVar[dict[str, Callable[["LineCompleter"], Iterable[str]]]] = {
        "clauses": _clauses,
        "configs": _configs,
        "events": _events,
        "functions": _functions,
        "modules": _modules,
        "options": _options,
        "sites": _sites,
        "snapshots": _snapshots,
        "tracers": _tracers,
        "verbs": _verbs,
        "views": _views,
    }

    def _gdb(self, text: str) -> Iterator[Completion]:
        debugger = self._session.guest.debugger
        if self._session.gone or debugger.stop is None:
            return
        try:
            lines = debugger.command_line.complete(text, LIMIT)
        except HarnessError:
            # No completion is no error; the line itself will tell.
            return
        for line in lines:
            yield Completion(line, start_position=-len(text), display=line.split(" ")[-1])

    def _offer(self, names: Iterable[str], prefix: str) -> Iterator[Completion]:
        for name in list(names)[:LIMIT]:
            summary = VERBS[name].summary if name in VERBS else ""
            yield Completion(name, start_position=-len(prefix), display_meta=summary)
