# SPDX-License-Identifier: MIT
"""The tree of tracefs of one guest: finds a file by its path."""

import difflib
from collections.abc import Mapping

from harness.errors import HarnessError, UsageError
from harness.guest import Guest
from harness.tracefs.absent import advice_for
from harness.tracefs.controls import CONTROLS
from harness.tracefs.cpus import cpu_directory
from harness.tracefs.events import event_directory, option_directory
from harness.tracefs.files import Directory, File, Node, NoFile
from harness.tracefs.profiles import profile_directory

PREFIXES = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where a kernel mounts it."""

DIRECTORIES: dict[str, Node] = {
    "events": event_directory(),
    "options": option_directory(),
    "per_cpu": cpu_directory(),
    "trace_stat": profile_directory(),
}

REFUSALS = 8
"""Errors kept in error_log, as many as in a kernel."""

NEAR = 3


def shortened(path: str) -> str:
    """A path within tracefs: without a kernel's mount point, and without a slash at its end."""
    for prefix in PREFIXES:
        if path == prefix or path.startswith(f"{prefix}/"):
            path = path.removeprefix(prefix)
            break
    return "/".join(part for part in path.split("/") if part not in ("", "."))


class Tracefs:
    """The files of one guest, which must be stopped."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self._refused: list[tuple[str, str, str]] = []
        log = File(
            "The last errors of writes; error_log > deletes them.",
            lambda guest: self._error_log(),
            self._forget_errors,
            "[>]",
        )
        self._root = Directory(
            lambda guest: (
                {name: file for name, file in CONTROLS.items() if file.there(guest)}
                | {"error_log": log}
                | {name: node for name, node in DIRECTORIES.items() if node.there(guest)}
            )
        )

    def find(self, path: str) -> Node:
        """The file or directory at a path of `shortened`.

        Raises:
            NoFile: there is none; the advice names what to use instead, or similar names.
        """
        node: Node = self._root
        parts = path.split("/") if path else []
        for depth, part in enumerate(parts):
            entries = node.entries(self.guest) if isinstance(node, Directory) else {}
            if part not in entries:
                raise _no_file(path, "/".join(parts[:depth]), part, list(entries))
            node = entries[part]
        return node

    def file(self, path: str) -> File:
        """The file at a path; `NoFile` if there is none, or a directory."""
        found = self.find(path)
        if isinstance(found, Directory):
            raise NoFile(f"{path or 'tracefs'} is a directory", f"List it: ls {path}".rstrip())
        return found

    def names(self, path: str) -> list[str]:
        """The names in a directory, those of directories with a slash at the end."""
        found = self.find(path)
        if not isinstance(found, Directory):
            return [path.rpartition("/")[2]]
        entries = self.entries(path)
        return [f"{name}/" if isinstance(entries[name], Directory) else name for name in entries]

    def entries(self, path: str) -> Mapping[str, Node]:
        """The entries of a directory; none for a file."""
        found = self.find(path)
        return found.entries(self.guest) if isinstance(found, Directory) else {}

    def write(self, path: str, text: str, append: bool) -> None:
        """Write a text to a file; an error is also noted in error_log.

        Raises:
            NoFile: there is no such file.
            HarnessError: it cannot be written, or the text is refused.
        """
        file = self.file(path)
        if file.write is None:
            raise UsageError(f"{path} is only read")
        try:
            file.write(self.guest, text, append)
        except HarnessError as error:
            entry = path.rpartition("/")[2], error.message, " ".join(text.split())
            self._refused = [*self._refused, entry][-REFUSALS:]
            raise

    def _error_log(self) -> list[str]:
        lines = []
        for name, message, text in self._refused:
            lines += [f"{name}: error: {message}", f"  Command: {text}"]
        return lines

    def _forget_errors(self, guest: Guest, text: str, append: bool) -> None:
        self._refused.clear()


def _no_file(path: str, directory: str, name: str, entries: list[str]) -> NoFile:
    where = f"{directory} of this guest's tracefs" if directory else "this guest's tracefs"
    message = f"{where} has no {name}" if directory else f"{where} has no file {name}"
    near = difflib.get_close_matches(name, entries, n=NEAR, cutoff=0.6)
    advice = advice_for(path)
    if not advice and near:
        advice = f"Did you mean {', '.join(near)}?"
    return NoFile(message, advice or f"List the files: ls {directory}".rstrip())
