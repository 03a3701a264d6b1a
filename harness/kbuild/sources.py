# SPDX-License-Identifier: MIT
"""The C files of a workload and of modules, by name or path."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config import list_modules, list_workloads, resources
from harness.config.names import unknown_name, user_path
from harness.errors import UsageError
from harness.units import escape

MAX_MODULES = 8
"""The most modules that a guest has room for."""

BUILT = ".ko"
"""The suffix of a built module."""

_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class _Kind:
    """A kind of C file: its directory, and a sentence for errors."""

    word: str
    directory: str
    meaning: str


_WORKLOAD = _Kind(
    "workload", "workloads", "A workload is one C file that defines int workload(void)."
)
_A_MODULE = _Kind("module", "modules", "A module is one C file (docs/modules.rst).")


def find_workload(name_or_file: str | Path) -> Path:
    """The absolute path of the workload: a name in ``guests/workloads/``, or a C file anywhere.

    A text that ends in ``.c`` or has a slash is a path.  Raises UsageError for an unknown name and
    for a path without a readable C file.
    """
    return _find(_WORKLOAD, name_or_file, list_workloads())


def find_modules(names_or_files: Sequence[str | Path]) -> tuple[Path, ...]:
    """The absolute paths of modules: names in ``guests/modules/``, C or ELF files, in this order.

    ELF files (``.ko``) are not read.  Raises UsageError as `find_workload`, for a name that is no
    identifier of C, and for two modules with one name.
    """
    found = tuple(_find_module(one) for one in names_or_files)
    sources = [path for path in found if path.suffix != BUILT]
    names = [path.stem for path in sources]
    for path in sources:
        if not _MODULE.fullmatch(path.stem):
            raise UsageError(
                f"A module cannot be called {escape(repr(path.stem), 200)}.",
                "Give its file a name of letters, digits and underscores.",
            )
        if names.count(path.stem) > 1:
            raise UsageError(
                f"There are two modules of the name {path.stem}.",
                "A module is named after its file; give one of the files another name.",
            )
    if len(sources) > MAX_MODULES:
        raise UsageError(f"A guest has room for {MAX_MODULES} modules, not for {len(sources)}.")
    return found


def _find_module(name_or_file: str | Path) -> Path:
    file = user_path(name_or_file).absolute()
    return file if file.suffix == BUILT else _find(_A_MODULE, name_or_file, list_modules())


def _find(kind: _Kind, name_or_file: str | Path, known: Sequence[str]) -> Path:
    text = str(name_or_file)
    if "/" not in text and not text.endswith(".c"):
        if text not in known:
            raise unknown_name(
                kind.word,
                text,
                known,
                path_hint=f"A path to a {kind.word} ends in .c.",
                here=Path(f"{text}.c"),
            )
        return resources.guests_directory() / kind.directory / f"{text}.c"
    file = user_path(text).absolute()
    shown = escape(str(file), 500)
    if file.suffix != ".c":
        raise UsageError(f"The {kind.word} {shown} does not end in .c.", kind.meaning)
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise UsageError(f"The {kind.word} {shown} {what}.", "Give the path of a C file.")
    return file
