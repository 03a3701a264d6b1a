# SPDX-License-Identifier: MIT
"""The text of a guest's sources, by the names that its debug information has for them."""

import json
from contextlib import suppress
from pathlib import Path

from harness.config import resources
from harness.errors import HarnessError
from harness.files import atomic_file, lines_below
from harness.image import SourceLine
from harness.kbuild.spec import GuestSpec
from harness.units import KIB

PLACES = "sources.json"
"""Lies beside an image: where the port, the workload and the modules were that it was last asked
for with."""

GUESTS = "guests"

PLACES_LIMIT = 64 * KIB


def write_places(spec: GuestSpec, image: Path) -> None:
    """Write the file beside an image.  Equal sources in other directories give the same image."""
    file, places = image.with_name(PLACES), GuestSources(spec).places
    del places[GUESTS]
    if _read_places(file) != places:
        text = json.dumps({name: str(path) for name, path in places.items()})
        # A cache that cannot be written serves as well; attached guests lack their lines then.
        with suppress(HarnessError), atomic_file(file) as stream:
            stream.write(text.encode())


def _places(spec: GuestSpec) -> dict[str, Path]:
    return {"port": spec.port.directory.absolute(), "workload": spec.workload.parent}


def _read_places(file: Path) -> dict[str, Path]:
    """Empty if there is no such file, as beside an image that was built by hand."""
    try:
        with file.open("rb") as stream:
            found = json.loads(stream.read(PLACES_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: Path(place)
        for name, place in found.items()
        if isinstance(place, str) and name.partition("/")[0] in {"port", "workload", "module"}
    }


class GuestSources:
    """Where a guest's sources lie, and what stands there now.

    ``places`` maps the beginnings of names in debug information to files and directories.  They
    are those that ``-ffile-prefix-map`` gives to the compiler in the makefiles of the guests.
    """

    def __init__(self, spec: GuestSpec | None, image: str = "") -> None:
        """Of a guest that others have built only what lies beside its ``image`` is known."""
        self.places: dict[str, Path] = {GUESTS: resources.guests_directory()}
        self._lines: dict[str, list[str]] = {}
        if spec is not None:
            self.places |= _places(spec)
            for source in spec.module_sources:
                self.add_module(source)
        elif image:
            self.places |= _read_places(Path(image).with_name(PLACES))

    def add_module(self, source: Path) -> None:
        """Add a module's C file, and the directory of its headers.

        Every module's directory is called ``module``.
        """
        headers = self.places.pop("module", source.parent)
        self.places |= {f"module/{source.name}": source, "module": headers}

    def at(self, place: SourceLine) -> str:
        """A line of a source; empty if it is not known, or the file has become shorter."""
        if place.file not in self._lines:
            self._lines[place.file] = self._read(place.file)
        lines = self._lines[place.file]
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def _read(self, name: str) -> list[str]:
        for begin, path in self.places.items():
            if name == begin:
                return lines_below(path.parent, path.name)
            if name.startswith(f"{begin}/"):
                return lines_below(path, name.removeprefix(f"{begin}/"))
        return []
