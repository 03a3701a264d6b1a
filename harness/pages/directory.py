# SPDX-License-Identifier: MIT
"""A directory of pages that is either complete or as it was."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HostError, UsageError
from harness.files import ScratchDirectory

INDEX = "index.html"
MARK = b'<meta name="generator" content="ftrace-harness">'
"""What every page has near its beginning."""

_HEAD = 512
"""Bytes of a page in which the mark is looked for."""

Write = Callable[[str, str], None]


@contextmanager
def pages_directory(directory: Path) -> Iterator[Write]:
    """What writes a page, given its name, such as ``cells/a.html``, and its text.

    The pages appear when the block ends without an exception, ``index.html`` last; until then they
    lie in a scratch directory beside their places.  Pages of an earlier run that are not written
    again are removed.  Files of others stay, unless a page has their name.

    Raises:
        UsageError: the directory cannot be made or written to.
        HostError: the disk is full or fails.
    """
    made = _make(directory)
    try:
        try:
            scratch = ScratchDirectory(directory)
        except OSError as error:
            raise _refused(directory, error) from error
        with scratch:
            names: dict[str, None] = {}

            def write(name: str, text: str) -> None:
                part = scratch.path / name
                with _full(directory):
                    part.parent.mkdir(parents=True, exist_ok=True)
                    with part.open("wb") as stream:
                        stream.write(text.encode("utf-8", "replace"))
                        stream.flush()
                        os.fsync(stream.fileno())
                names[name] = None

            yield write
            with _full(directory):
                _publish(scratch.path, directory, names)
    except BaseException:
        for one in made:
            with suppress(OSError):
                one.rmdir()
        raise


def _make(directory: Path) -> list[Path]:
    """Make the directory; returns the directories that were made, the innermost first."""
    try:
        if directory.exists() and not directory.is_dir():
            raise UsageError(f"{directory} is not a directory", "Choose another place.")
        missing = [one for one in (directory, *directory.parents) if not one.exists()]
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(directory, error) from error
    return missing


def _publish(scratch: Path, directory: Path, names: dict[str, None]) -> None:
    for name in names:
        if (directory / name).is_dir():
            raise UsageError(f"{directory / name} is a directory", "Choose another place.")
    for name in sorted(names, key=lambda one: one == INDEX):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).replace(target)
    for old in directory.glob("*/*.html"):
        if str(old.relative_to(directory)) not in names and _is_page(old):
            old.unlink()
            with suppress(OSError):
                old.parent.rmdir()


def _is_page(file: Path) -> bool:
    """Whether the harness wrote it."""
    if file.is_symlink() or file.parent.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as stream:
        return MARK in stream.read(_HEAD)


@contextmanager
def _full(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HostError(
            f"the pages in {directory} cannot be written: {error.strerror}",
            "Make room, or choose another place.",
        ) from error


def _refused(directory: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{directory} cannot be used for pages: {error.strerror}", "Choose another directory."
    )
