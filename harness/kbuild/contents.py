# SPDX-License-Identifier: MIT
"""The keys of guests and kernels: digests of everything that can change their bytes."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import elftools

from harness.config import resources
from harness.errors import UsageError
from harness.kbuild.includes import included
from harness.kbuild.spec import GuestSpec
from harness.units import escape

# Directories of guests/ of which a build uses some entries or none; these are added by name.
_CHOICES = ("arch", "ports", "workloads", "modules", "linux")

# The mutants of a port are in no guest.
_MUTANTS = "mutants/"

# Python that runs in a build: it finds the call sites.
_PYTHON_INPUTS = ("image/**/*.py", "isa/**/*.py", "errors.py", "units.py")

_SEARCH_FLAG = re.compile(r"-(?:I|iquote|isystem|idirafter|include|imacros)(.+)")


class Digest:
    """SHA-256 over labelled parts, each framed by its length."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def add(self, label: str, content: bytes | str) -> None:
        """Add a part; text is encoded in UTF-8."""
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        self._sha.update(f"{label}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        self._sha.update(data)

    def hex(self) -> str:
        """The first 32 digits: enough against accidental collisions, and paths stay readable."""
        return self._sha.hexdigest()[:32]


def guest_key(spec: GuestSpec, tools: Sequence[str], unique: bytes) -> str:
    """The key of a build.

    ``tools`` are the versions of the toolchain.  Files count with their content, not with their
    path, so that a moved source finds its guest again.  ``unique`` makes the key unique; it is used
    if the includes of a source cannot be followed.
    """
    digest = _of_kernel(spec, tools)
    guests, port = resources.guests_directory(), spec.port.directory
    _add_tree(digest, "port", port, port)
    for pattern in _PYTHON_INPUTS:
        for path in sorted(resources.PACKAGE.glob(pattern)):
            digest.add(f"python/{path.relative_to(resources.PACKAGE)}", _read(path))
    digest.add("pyelftools", elftools.__version__)
    # The file's name is in the image, by debug information and __FILE__.
    digest.add(f"workload/{spec.workload.name}", _read(spec.workload))
    modules = spec.module_sources
    if modules:
        digest.add("modules", _read(guests / "modules" / "Makefile"))
    for module in modules:
        digest.add(f"module/{module.name}", _read(module))
    if not _add_included(digest, [spec.workload, *modules, *_files(port)], _flags(spec)):
        digest.add("unique", unique)
    return digest.hex()


def kernel_key(spec: GuestSpec, tools: Sequence[str], unique: bytes) -> str:
    """The key of the part that guests with other workloads, modules and ports share.

    Of the port the kernel includes only headers.  See `guest_key` for the arguments.
    """
    digest = _of_kernel(spec, tools)
    headers = spec.port.directory / "include"
    _add_tree(digest, "port", spec.port.directory, headers)
    if not _add_included(digest, _files(headers), _flags(spec)):
        digest.add("unique", unique)
    return digest.hex()


def _of_kernel(spec: GuestSpec, tools: Sequence[str]) -> Digest:
    digest, config = Digest(), spec.config
    for setting in (
        *(config.architecture, config.build.form, f"smp={config.qemu.smp}"),
        *(spec.compiler, *spec.features, *tools),
    ):
        digest.add("setting", setting)
    for flag in _flags(spec):
        digest.add("flag", flag)
    guests = resources.guests_directory()
    for path in sorted(guests.iterdir()):
        if path.name not in _CHOICES:
            _add_tree(digest, "guests", guests, path)
    _add_tree(digest, "arch", guests / "arch", guests / "arch" / config.architecture)
    return digest


def _flags(spec: GuestSpec) -> list[str]:
    """All compiler flags; the config's come first on the command line."""
    return [*spec.config.build.cflags, "", *spec.cflags]


def _files(directory: Path) -> list[Path]:
    return [directory / name for name in _names(directory) if not name.startswith(_MUTANTS)]


def _names(directory: str | Path) -> Iterator[str]:
    """The names of all files below a directory, relative to it, in order; none without one."""
    try:
        with os.scandir(directory) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(directory, error) from error
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from (f"{entry.name}/{name}" for name in _names(entry.path))
        elif entry.is_file():
            yield entry.name


def _add_tree(digest: Digest, label: str, base: Path, path: Path) -> None:
    below = "" if path == base else f"{path.relative_to(base)}"
    if path.is_file():
        digest.add(f"{label}/{below}", _read(path))
        return
    for name in _names(path):
        if not name.startswith(_MUTANTS):
            digest.add(f"{label}/{below}/{name}", _read(f"{path}/{name}"))


def _add_included(digest: Digest, sources: Iterable[Path], flags: Sequence[str]) -> bool:
    """Add all files that these include, directly or not, except the guests' own headers.

    ``flags`` name further directories, and may include files themselves.

    It takes both sides of every ``#if``, which at worst causes a superfluous build.  Returns False
    if the name of an include is a macro, which cannot be followed.
    """
    guests = resources.guests_directory()
    search = [guests / told[1] for flag in flags if (told := _SEARCH_FLAG.fullmatch(flag))]
    followed = True
    waiting = [*sources, *filter(Path.is_file, search)]
    seen = {file.resolve() for file in waiting}
    while waiting:
        file = waiting.pop()
        for written in included(_read(file)):
            if written is None:
                followed = False
                continue
            name = os.fsdecode(written)
            for directory in (file.parent, *search):
                found = directory / name
                if found.is_file() and found.resolve() not in seen:
                    seen.add(found.resolve())
                    digest.add(f"include/{name}", _read(found))
                    waiting.append(found)
    return followed


def _read(file: str | Path) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(path: str | Path, error: OSError) -> UsageError:
    return UsageError(
        f"{escape(str(path), 500)} cannot be read: {error.strerror}.",
        "Every source of a guest must be readable.",
    )
