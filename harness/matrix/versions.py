# SPDX-License-Identifier: MIT
"""What is tested, and with what: the revision of the sources, the versions of the tools."""

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness import __version__
from harness.config import load_config, resources
from harness.errors import HarnessError, UsageError
from harness.matrix.cells import Cell
from harness.units import escape

DEADLINE = 60.0
"""Seconds that git, or a program asked for its version, may take."""


def revision() -> str:
    """The revision of the sources, with a digest of what is not committed behind it.

    An installed harness has no revision; its version stands for it.
    """
    root = resources.root()
    if not (root / ".git").exists():
        return f"v{__version__}"
    head = git(root, "rev-parse", "HEAD").strip()
    changes = git(root, "diff", "HEAD", "--binary")
    for name in filter(None, git(root, "ls-files", "-z", "-o", "--exclude-standard").split("\0")):
        changes += f"\0{name}\0{_digest(root / name)}"
    if not changes:
        return head
    return f"{head}+{hashlib.sha256(changes.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def git(root: Path, *arguments: str) -> str:
    """What git prints; UsageError when it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "--no-optional-locks", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"git cannot be run: {error}", "Name the revision: --revision.") from error
    if done.returncode != 0:
        raise UsageError(
            f"git {arguments[0]} fails in {root}: {escape(done.stderr.decode(errors='replace'))}",
            "Give a revision that git knows there, or name the revision with --revision.",
        )
    return done.stdout.decode("utf-8", "surrogateescape")


def versions(cell: Cell) -> Mapping[str, str]:
    """What QEMU, the compiler and the harness say of themselves; missing ones are left out."""
    config = load_config(cell.config)
    found = {
        "harness": __version__,
        "python": sys.version.split()[0],
        config.qemu.binary: _first_line(config.qemu.binary),
    }
    compiler = cell.program if cell.program == "clang" else f"{config.build.cross_compile}gcc"
    found[compiler] = _first_line(compiler)
    return {name: text for name, text in found.items() if text}


@cache
def _first_line(program: str) -> str:
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return escape(done.stdout.decode(errors="replace").partition("\n")[0], 200)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def changed_files(rev: str) -> list[str]:
    """Paths, from the root of the sources, that differ from a revision or are new.

    Raises:
        UsageError: these are no sources under git, or git knows no such revision.
    """
    root = resources.root()
    if not (root / ".git").exists():
        raise UsageError(
            f"{root} is not a git work tree, so nothing can be said of changes",
            "Leave out --changed-since.",
        )
    if rev.startswith("-"):
        raise UsageError(f"{escape(rev, 100)} is no revision", "Name a commit, branch or tag.")
    try:
        differ = git(root, "diff", "--name-only", "-z", "--no-renames", rev, "--")
        new = git(root, "ls-files", "-z", "-o", "--exclude-standard")
    except HarnessError as error:
        error.advice = "Name a commit, branch or tag that this clone has."
        raise
    return sorted({name for name in (differ + new).split("\0") if name})
