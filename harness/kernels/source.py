# SPDX-License-Identifier: MIT
"""Where Linux's sources come from: a tree, or Debian's package linux-source."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HostError, UsageError
from harness.kbuild.cache import Cache
from harness.kbuild.contents import Digest
from harness.kbuild.linux_tree import LinuxTree
from harness.kbuild.make import Progress
from harness.kernels.apt import Apt, extract
from harness.process import NotRun, find_program, stream
from harness.units import escape

INSTALLED = Path("/usr/src")
"""Where the package linux-source-* puts its archive."""

ARCHIVES = Cache("linux-sources", "linux-source.tar.xz", 2)
"""Archives that were downloaded; one has 140 MB."""

METAPACKAGE = "linux-source"
_ARCHIVE = re.compile(r"linux-source-(\d+)\.(\d+)\.tar\.xz")
_UNPACK_DEADLINE = 1200.0


@dataclass(frozen=True, slots=True)
class Source:
    """Sources of Linux that can be had."""

    origin: str
    """A description for people."""
    key: Callable[[], str]
    """A digest of the content that they have now."""
    tree: Callable[[Path, Progress], Path]
    """The tree, which may be unpacked into the given directory."""


def find_source(tree: Path | None, report: Progress) -> Source:
    """The sources that are meant: a tree, or the newest archive of Debian that is installed.

    Where none is installed, that of the distribution is downloaded into the cache.

    Raises:
        UsageError: the tree is no Linux tree.
        HostError: there are no sources, and apt cannot get them.
    """
    if tree is not None:
        directory = tree.resolve()
        version = LinuxTree(directory).version
        return Source(
            f"Linux {version} in {directory}",
            lambda: _digest_of_tree(directory),
            lambda _work, _report: directory,
        )
    archive = _installed() or _downloaded(report)
    return Source(
        archive.origin,
        lambda: archive.key,
        lambda work, report: _unpack(archive.file, work / "source", report),
    )


@dataclass(frozen=True, slots=True)
class _Archive:
    file: Path
    origin: str
    key: str


def _installed() -> _Archive | None:
    found = {
        (int(match[1]), int(match[2])): path
        for path in INSTALLED.glob("linux-source-*.tar.xz")
        if (match := _ARCHIVE.fullmatch(path.name))
    }
    if not found:
        return None
    file = found[max(found)]
    with file.open("rb") as stream:
        return _Archive(file, str(file), hashlib.file_digest(stream, "sha256").hexdigest())


def _downloaded(report: Progress) -> _Archive:
    apt = Apt()
    name = apt.show(METAPACKAGE).dependency(r"linux-source-\d+\.\d+")
    if name is None:
        raise HostError(f"The package {METAPACKAGE} names no sources.", "Give a tree: --source.")
    package = apt.show(name)
    digest = Digest()
    digest.add("package", f"{package.name} {package.version}")
    key = digest.hex()

    def get(work: Path, _lock: int) -> list[Path]:
        (deb,) = apt.download([package], work, report)
        archive = extract(deb, f"{name}.tar.xz", work / "package", report)
        return [archive.rename(work / ARCHIVES.result)]

    waiting = "waiting for another download of Linux's sources"
    file = ARCHIVES.obtain(key, lambda: key, lambda: report(waiting), get)
    return _Archive(file, f"{package.name} {package.version} of Debian", key)


def _unpack(archive: Path, directory: Path, report: Progress) -> Path:
    for program, package in (("tar", "tar"), ("xz", "xz-utils")):
        find_program(program, package)
    report(f"unpacking {archive}")
    directory.mkdir()
    command = ["tar", "-xJf", str(archive), "-C", str(directory), "--strip-components=1"]
    lines: list[str] = []
    try:
        status = stream(command, _UNPACK_DEADLINE, lines.append)
    except NotRun as error:
        raise HostError(f"tar cannot be run: {error}.", "Try again.") from error
    if status != 0:
        shown = escape("\n".join(lines[-5:]), 1000)
        raise HostError(f"{archive} cannot be unpacked:\n{shown}", "Look for room on the disk.")
    return directory


def _digest_of_tree(directory: Path) -> str:
    """Of names, sizes and times of change: a tree has too many files to read them all."""
    digest = Digest()
    try:
        for path, directories, files in os.walk(directory):
            directories[:] = sorted(name for name in directories if name != ".git")
            for name in sorted(files):
                file = f"{path}/{name}"
                status = os.lstat(file)
                digest.add(file, f"{status.st_size} {status.st_mtime_ns}")
    except OSError as error:
        raise UsageError(
            f"{escape(str(directory), 500)} cannot be read: {error.strerror}.", "Try again."
        ) from error
    return digest.hex()
