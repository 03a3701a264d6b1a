# SPDX-License-Identifier: MIT
"""Completion of a line: verbs, functions, tracers, files, and gdb's completions."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from harness.config import list_configs
from harness.conformance import load_catalogue
from harness.errors import HarnessError
from harness.report import VIEWS
from harness.shell.session import Session
from harness.shell.verb import VERBS
from harness.tracefs import Directory, shortened

# The arguments of trace-cmd's options.
_FOLLOWS = {
    "-p": "tracers",
    "-l": "functions",
    "-n": "functions",
    "-g": "functions",
    "-f": "views",
    "-o": "files",
    "--until": "functions",
}

_OPTION = re.compile(r"(?<!\w)--?[a-zA-Z]+")

LIMIT = 200
"""Maximum number of completions."""


def _functions(session: Session) -> list[str]:
    return sorted({site.function for site in session.guest.image.sites})


def _options(session: Session) -> list[str]:
    names = [word.removeprefix("no") for word in session.guest.tracer.trace_options]
    return [*names, *(f"no{name}" for name in names)]


def _sites(session: Session) -> list[str]:
    return [*_functions(session), *(f"{site.address:#x}" for site in session.guest.image.sites)]


_KINDS: dict[str, Callable[[Session], Iterable[str]]] = {
    "clauses": lambda session: [clause.id for clause in load_catalogue().clause],
    "configs": lambda session: list_configs(),
    "events": lambda session: session.guest.tracer.available_events,
    "functions": _functions,
    "modules": lambda session: [module.name for module in session.guest.modules.loaded],
    "options": _options,
    "sites": _sites,
    "snapshots": lambda session: session.snapshots,
    "tracers": lambda session: session.guest.tracer.available_tracers,
    "verbs": lambda session: sorted(VERBS),
    "views": lambda session: VIEWS,
}


class LineCompleter(Completer):
    """Completes the last word of a line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        """Called by prompt_toolkit."""
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
            yield from self._tracefs(prefix, writes=words[0] == "echo")
            return
        verb = VERBS.get(words[0])
        if verb is None:
            yield from self._gdb(text)
        elif (words if text.endswith(" ") else words[:-1])[-1] in _FOLLOWS:
            option = (words if text.endswith(" ") else words[:-1])[-1]
            yield from self._of_kind(_FOLLOWS[option], prefix, event)
        elif prefix.startswith("-"):
            found = [one for one in _OPTION.findall(verb.takes) if one.startswith(prefix)]
            yield from self._offer(found, prefix)
        else:
            yield from self._of_kind(verb.completes, prefix, event)

    def _of_kind(self, kind: str, prefix: str, event: CompleteEvent) -> Iterator[Completion]:
        if kind == "tracefs":
            yield from self._tracefs(prefix)
        elif kind == "files" and not prefix.startswith("-"):
            yield from self._paths.get_completions(Document(prefix), event)
        elif kind in _KINDS:
            names: Iterable[str] = ()
            # The guest may be gone.
            with suppress(HarnessError):
                names = list(_KINDS[kind](self._session))
            yield from self._offer([name for name in names if name.startswith(prefix)], prefix)

    def _tracefs(self, prefix: str, *, writes: bool | None = None) -> Iterator[Completion]:
        """Files and directories; with ``writes`` only files that can be written, or be read."""
        with suppress(HarnessError):
            directory = prefix.rpartition("/")[0]
            where = f"{directory}/" if "/" in prefix else ""
            inside = self._session.tracefs.entries(shortened(directory))
            fitting = [
                where + name + "/" * isinstance(node, Directory)
                for name, node in inside.items()
                if isinstance(node, Directory)
                or writes is None
                or (node.write if writes else node.read or node.stream) is not None
            ]
            yield from self._offer([name for name in fitting if name.startswith(prefix)], prefix)

    def _gdb(self, text: str) -> Iterator[Completion]:
        debugger = self._session.guest.debugger
        if self._session.gone or debugger.stop is None:
            return
        try:
            lines = debugger.command_line.complete(text, LIMIT)
        except HarnessError:
            # The line itself will report the error.
            return
        for line in lines:
            yield Completion(line, start_position=-len(text), display=line.split(" ")[-1])

    def _offer(self, names: Iterable[str], prefix: str) -> Iterator[Completion]:
        for name in list(names)[:LIMIT]:
            summary = VERBS[name].summary if name in VERBS else ""
            yield Completion(name, start_position=-len(prefix), display_meta=summary)
