# SPDX-License-Identifier: MIT
"""Offsets in a Linux kernel's structures, from the debug information of its vmlinux.

They differ with every kernel configuration, so nothing is known by version.  Reading them from some
hundred megabytes takes seconds, so they are kept in the cache by build id.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.config import resources
from harness.errors import FormatError
from harness.files import atomic_file
from harness.image import Image, Member, Structure
from harness.image.layout import Array, Enumeration, Integer, Pointer
from harness.linux.members import CONSTANTS, FILES, MEMBERS, WantedMembers
from harness.units import ByteOrder

FORMAT = 2
"""Version of the cache's files."""

MAX_ENTRIES = 64
"""Kernels in the cache."""

MAX_NESTING = 8


@dataclass(frozen=True, slots=True)
class LayoutPlace:
    """A member of a structure: a number, or the beginning of anything else."""

    offset: int
    size: int
    signed: bool

    def number(self, data: bytes, byteorder: ByteOrder, start: int = 0) -> int:
        """The value in a structure at ``data[start]``; FormatError if ``data`` is too short."""
        at = start + self.offset
        if at + self.size > len(data):
            raise FormatError(f"{len(data)} bytes have no member at {at}")
        return int.from_bytes(data[at : at + self.size], byteorder, signed=self.signed)


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of a structure and its members; nested ones by paths as ``list.next``.

    A structure with a single member, such as ``local_t``, stands for that member.
    """

    name: str
    size: int
    places: Mapping[str, LayoutPlace]
    kernel: str
    """For messages."""

    def place(self, path: str) -> LayoutPlace:
        """A member; FormatError with the option of the kernel's configuration that it needs."""
        found = self.places.get(path)
        if found is None:
            raise _missing(f"struct {self.name} of {self.kernel} has no member {path}", self.name)
        return found

    def first(self, *paths: str) -> LayoutPlace:
        """The first member that there is, as kernels rename them; errors as of `place`."""
        return next((self.places[path] for path in paths if path in self.places), None) or (
            self.place(paths[0])
        )

    def __contains__(self, path: str) -> bool:
        return path in self.places


class Layouts:
    """The structures of one kernel by name, and constants of its enums."""

    def __init__(
        self, structures: Mapping[str, Layout], kernel: str, constants: Mapping[str, int]
    ) -> None:
        self._structures = structures
        self._constants = constants
        self._kernel = kernel

    def __getitem__(self, name: str) -> Layout:
        """``struct name``; FormatError as of `Layout.place`."""
        found = self._structures.get(name)
        if found is None:
            raise _missing(f"the debug information of {self._kernel} has no struct {name}", name)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._structures

    def constant(self, name: str) -> int:
        """The value of an enum's constant; FormatError as of `Layout.place`."""
        found = self._constants.get(name)
        if found is None:
            raise FormatError(
                f"the debug information of {self._kernel} has no constant {name}",
                f"That needs a kernel with CONFIG_{CONSTANTS[name]}.",
            )
        return found

    @classmethod
    def of(cls, image: Image) -> "Layouts":
        """Read from debug information; FormatError without any."""
        # To search all units takes minutes.
        known = image.structures
        in_files = known.learn(MEMBERS, FILES, CONSTANTS)
        structures: dict[str, Layout] = {}
        for name, wanted in MEMBERS.items():
            if in_files and not known.knows(name):
                continue
            with suppress(FormatError):
                found = known.struct(name)
                structures[name] = Layout(name, found.size, _places(found, wanted), image.name)
        return cls(structures, image.name, known.constants)

    def dumped(self) -> str:
        """As JSON, for `loaded`."""
        structures = {
            name: {
                "size": one.size,
                "places": {p: [q.offset, q.size, q.signed] for p, q in one.places.items()},
            }
            for name, one in self._structures.items()
        }
        return json.dumps({"structures": structures, "constants": dict(self._constants)})

    @classmethod
    def loaded(cls, text: str, kernel: str) -> "Layouts":
        """The inverse of `dumped`.

        AttributeError, KeyError, TypeError or ValueError for any other text.
        """
        known = json.loads(text)
        structures = {
            name: Layout(
                name,
                int(one["size"]),
                {
                    path: LayoutPlace(int(offset), int(size), bool(signed))
                    for path, (offset, size, signed) in one["places"].items()
                },
                kernel,
            )
            for name, one in known["structures"].items()
        }
        constants = {name: int(value) for name, value in known["constants"].items()}
        return cls(structures, kernel, constants)


def load_layouts(image: Image) -> Layouts:
    """The layouts of a kernel, from the cache if they were read before.

    FormatError if the kernel has no debug information.
    """
    file = _cache_file(image)
    with suppress(OSError, AttributeError, KeyError, TypeError, ValueError):
        return Layouts.loaded(file.read_text(), image.name)
    layouts = Layouts.of(image)
    # A cache that cannot be written costs time only.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as stream:
            stream.write(layouts.dumped().encode())
        _evict(file.parent)
    return layouts


def _cache_file(image: Image) -> Path:
    """Named by the build id and by all that is looked for."""
    question = hashlib.sha256(repr((FORMAT, MEMBERS, FILES, CONSTANTS)).encode()).hexdigest()[:16]
    return resources.cache_directory() / "layouts" / f"{image.build_id.hex()}-{question}.json"


def _evict(directory: Path) -> None:
    files = sorted(directory.glob("*.json"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MAX_ENTRIES]:
        file.unlink()


def _places(structure: Structure, wanted: WantedMembers) -> dict[str, LayoutPlace]:
    found = {}
    for path in wanted.paths:
        with suppress(FormatError):
            found[path] = _place(structure.member(path))
    return found


def _place(member: Member) -> LayoutPlace:
    offset, kind = member.offset, member.type
    for _ in range(MAX_NESTING):
        if isinstance(kind, Integer | Enumeration | Pointer):
            return LayoutPlace(offset, kind.size, kind.signed)
        if isinstance(kind, Array) or not isinstance(kind, Structure) or len(kind.members) != 1:
            break
        (inner,) = kind.members.values()
        offset, kind = offset + inner.offset, inner.type
    return LayoutPlace(member.offset, member.size, False)


def _missing(what: str, structure: str) -> FormatError:
    option = MEMBERS[structure].option if structure in MEMBERS else "FTRACE"
    return FormatError(what, f"That needs a kernel with CONFIG_{option}.")
