# SPDX-License-Identifier: MIT
"""The text of a guest's sources, by the names that its debug information has for them."""

from pathlib import Path

from harness.config import resources
from harness.files import lines_below
from harness.image import SourceLine
from harness.kbuild.spec import GuestSpec


class GuestSources:
    """Where a guest's sources lie, and what stands there now.

    ``places`` maps the beginnings of names in debug information to files and directories.  They
    are those that ``-ffile-prefix-map`` gives to the compiler in the makefiles of the guests.
    """

    def __init__(self, spec: GuestSpec | None) -> None:
        """Without a spec, only the harness's own sources are known."""
        self.places: dict[str, Path] = {"guests": resources.guests_directory()}
        self._lines: dict[str, list[str]] = {}
        if spec is not None:
            self.places |= {"port": spec.port.directory, "workload": spec.workload.parent}
            for source in spec.module_sources:
                self.add_module(source)

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
