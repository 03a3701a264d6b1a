# SPDX-License-Identifier: MIT
"""The tested revision, and the versions of the tools."""

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.config import resources
from harness.errors import HarnessError, UsageError
from harness.matrix.cells import Cell
from harness.matrix.changed import concerned, concerned_elsewhere
from harness.process import NotRun, run
from harness.units import escape
from harness.version import __version__

DEADLINE = 60.0
"""Timeout in seconds of git and of ``--version``."""


def tested_port(cells: Iterable[Cell]) -> Path | None:
    """The port of the cells, if it is not one of the harness's own."""
    return next((Path(cell.port) for cell in cells if "/" in cell.port), None)


def work_tree(port: Path | None = None) -> Path | None:
    """The git work tree of a port, or the harness's own for None; None if there is none."""
    if port is None:
        root = resources.root()
        return root if (root / ".git").exists() else None
    real = Path(os.path.realpath(port))
    every = (real, *real.parents)
    return next((directory for directory in every if (directory / ".git").exists()), None)


def revision(root: Path | None, port: Path | None = None) -> str:
    """The revision of a work tree, with a digest of uncommitted changes.

    Without a work tree it is a digest of the port's files, or the harness's version.
    """
    if root is None and port is not None:
        files = sorted(path for path in port.rglob("*") if path.is_file())
        told = [f"{path.relative_to(port)}\0{_digest(path)}" for path in files]
        return f"port-{hashlib.sha256(os.fsencode(chr(0).join(told))).hexdigest()[:12]}"
    if root is None:
        return f"v{__version__}"
    head = git(root, "rev-parse", "HEAD").strip()
    changes = git(root, "diff", "HEAD", "--binary")
    for name in filter(None, git(root, "ls-files", "-z", "-o", "--exclude-standard").split("\0")):
        changes += f"\0{name}\0{_untracked(root / name)}"
    if not changes:
        return head
    return f"{head}+{hashlib.sha256(changes.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def git(root: Path, *arguments: str, given: str = "") -> str:
    """The output of git, with ``given`` as its standard input; UsageError if it fails."""
    try:
        command = ["git", "-C", str(root), "--no-optional-locks", *arguments]
        done = run(command, DEADLINE, given=given.encode() or None)
    except NotRun as error:
        raise UsageError(f"git cannot be run: {error}", "Name the revision: --revision.") from error
    if done.returncode != 0:
        raise UsageError(
            f"git {arguments[0]} fails in {root}: {escape(done.stderr.decode(errors='replace'))}",
            "Give a revision that git knows there, or name the revision with --revision.",
        )
    return done.stdout.decode("utf-8", "surrogateescape")


def versions(cell: Cell) -> Mapping[str, str]:
    """The versions of QEMU, the compiler and the harness; missing programs are left out."""
    config = cell.machine
    found = {
        "harness": __version__,
        "python": sys.version.split()[0],
        # By name only, whatever its directory.
        Path(config.qemu.binary).name: _first_line(config.qemu.binary),
    }
    prefix = "" if cell.program.startswith("clang") else config.build.cross_compile
    # gcc-13 is a version of gcc.
    found[prefix + cell.program.split("-")[0]] = _first_line(config.build.compiler_program)
    return {name: text for name, text in found.items() if text}


@cache
def _first_line(program: str) -> str:
    try:
        done = run([program, "--version"], DEADLINE)
    except NotRun:
        return ""
    return escape(done.stdout.decode(errors="replace").partition("\n")[0], 200)


def _untracked(path: Path) -> str:
    """What git would record of a path: the target of a link, the contents of a file.

    A directory among them is a repository of its own, of which it would record nothing.
    """
    if path.is_symlink():
        return str(path.readlink())
    return "" if path.is_dir() else _digest(path)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def changed_files(root: Path, rev: str) -> list[str]:
    """Paths, from the root of a work tree, that differ from a revision or are new.

    Raises:
        UsageError: git knows no such revision.
    """
    if rev.startswith("-"):
        raise UsageError(f"{escape(rev, 100)} is no revision", "Name a commit, branch or tag.")
    try:
        differ = git(root, "diff", "--name-only", "-z", "--no-renames", rev, "--")
        new = git(root, "ls-files", "-z", "-o", "--exclude-standard")
    except HarnessError as error:
        error.advice = "Name a commit, branch or tag that this clone has."
        raise
    return sorted({name for name in (differ + new).split("\0") if name})


def cells_changed_since(cells: Sequence[Cell], root: Path | None, rev: str) -> list[Cell]:
    """The cells affected by changes of a work tree since a revision.

    Raises:
        UsageError: there is no work tree, or git knows no such revision.
    """
    if root is None:
        raise UsageError(
            "the port is in no git work tree, so its changes are not known",
            "Leave out --changed-since.",
        )
    files = changed_files(root, rev)
    if root != resources.root():
        return concerned_elsewhere(cells, [root / name for name in files])
    sources = (resources.guests_directory() / "workloads").glob("*.c")
    texts = {path.name: path.read_bytes() for path in sources}
    return concerned(cells, files, texts)
