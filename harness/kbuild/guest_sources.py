# SPDX-License-Identifier: MIT
"""The text of a guest's sources, by their file names in its debug information."""

import json
from contextlib import suppress
from pathlib import Path

from harness.config import resources
from harness.errors import HarnessError
from harness.files import atomic_file, lines_below
from harness.image import SourceLine
from harness.kbuild.spec import GuestSpec
from harness.units import KIB

PATHS_FILE = "sources.json"
"""A file beside the image with the source directories of the latest request."""

GUESTS = "guests"

PATHS_LIMIT = 64 * KIB


def write_source_paths(spec: GuestSpec, image: Path) -> None:
    """Write the file beside an image: equal sources in other directories give the same image."""
    file, paths = image.with_name(PATHS_FILE), GuestSources(spec).paths
    del paths[GUESTS]
    if _read_source_paths(file) != paths:
        text = json.dumps({name: str(path) for name, path in paths.items()})
        # Not an error: only attached guests need the file.
        with suppress(HarnessError), atomic_file(file) as stream:
            stream.write(text.encode())


def _source_paths(spec: GuestSpec) -> dict[str, Path]:
    return {"port": spec.port.directory.absolute(), "workload": spec.workload.parent}


def _read_source_paths(file: Path) -> dict[str, Path]:
    """Empty if there is no such file, as beside an image built by hand."""
    try:
        with file.open("rb") as stream:
            found = json.loads(stream.read(PATHS_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: Path(path)
        for name, path in found.items()
        if isinstance(path, str) and name.partition("/")[0] in {"port", "workload", "module"}
    }


class GuestSources:
    """The paths of a guest's sources, and their present text.

    ``paths`` maps prefixes of file names in debug information to files and directories.  The
    prefixes are those of ``-ffile-prefix-map`` in the makefiles of the guests.
    """

    def __init__(self, spec: GuestSpec | None, image: str = "") -> None:
        """For a guest built elsewhere, only the file beside its ``image`` is used."""
        self.paths: dict[str, Path] = {GUESTS: resources.guests_directory()}
        self._lines: dict[str, list[str]] = {}
        if spec is not None:
            self.paths |= _source_paths(spec)
            for source in spec.module_sources:
                self.add_module(source)
        elif image:
            self.paths |= _read_source_paths(Path(image).with_name(PATHS_FILE))

    def add_module(self, source: Path) -> None:
        """Add a module's C file, and the directory of its headers.

        Every module's directory is called ``module``.
        """
        headers = self.paths.pop("module", source.parent)
        self.paths |= {f"module/{source.name}": source, "module": headers}

    def at(self, place: SourceLine) -> str:
        """A line of a source; empty if it is not known, or the file has become shorter."""
        if place.file not in self._lines:
            self._lines[place.file] = self._read(place.file)
        lines = self._lines[place.file]
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def _read(self, name: str) -> list[str]:
        for prefix, path in self.paths.items():
            if name == prefix:
                return lines_below(path.parent, path.name)
            if name.startswith(f"{prefix}/"):
                return lines_below(path, name.removeprefix(f"{prefix}/"))
        return []
