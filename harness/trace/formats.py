# SPDX-License-Identifier: MIT
"""Event formats: the layout of each event's fields, as in the kernel's format files.

Our own events are declared as C fields (declarations.py) and laid out for the guest's word size.
Those of a file are parsed from its format texts; their ids, offsets and sizes are used as given.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple

from harness.errors import FormatError
from harness.units import align_up, escape

MAX_FIELDS = 512
MAX_PAYLOAD = 1 << 16

INTEGER_SIZES = (1, 2, 4, 8)
LOCATED = ("__data_loc", "__rel_loc")
"""Types of fields with the location of an array, relative to the payload or to the field's end."""

_SIZES = {"char": 1, "short": 2, "int": 4, "long long": 8}
_SIZES |= {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": 1, "s16": 2, "s32": 4, "s64": 8}
_SIZES |= {"pid_t": 4}
_SIGNED = frozenset(
    {"char", "short", "int", "long", "long long", "s8", "s16", "s32", "s64", "pid_t"}
)

_BRACKETS = re.compile(r"\[([^\[\]]*)\]\Z")
_WORD = f"{ascii_letters}{digits}_"
_FIELD = re.compile(
    r"^[ \t]*field(?: special)?:([^;\n]{1,512});[ \t]*offset:[ \t]*(\d{1,6});"
    r"[ \t]*size:[ \t]*(\d{1,6});(?:[ \t]*signed:[ \t]*(\d);)?",
    re.MULTILINE,
)
_NAME = re.compile(r"^name:[ \t]*(\S{1,128})[ \t]*$", re.MULTILINE)
_ID = re.compile(r"^ID:[ \t]*(\d{1,5})[ \t]*$", re.MULTILINE)
_PRINT = re.compile(r"^print fmt:[ \t]*(.*)\Z", re.MULTILINE | re.DOTALL)

_COMMON = (
    "unsigned short common_type",
    "unsigned char common_flags",
    "unsigned char common_preempt_count",
    "int common_pid",
)


def c_type_size(type_name: str, long_size: int) -> int | None:
    """The size in bytes of a C integer type; ``None`` for other types."""
    bare = type_name.removeprefix("unsigned ").removeprefix("signed ").strip()
    if bare in ("long", "unsigned") or bare.endswith("*"):
        return 4 if bare == "unsigned" else long_size
    return _SIZES.get(bare)


class Declaration(NamedTuple):
    """The parts of a C declaration: ``char``, ``comm`` and ``16``.

    ``length`` is the text in brackets, ``None`` without brackets.
    """

    type_name: str
    name: str
    length: str | None


# Decoders and filters ask for the same few declarations again and again.
@lru_cache(maxsize=1024)
def split_declaration(declaration: str) -> Declaration | None:
    """The parts of a declaration, ``None`` if it has no name.

    Parsed backwards, in linear time for any input.
    """
    rest = declaration.rstrip()
    brackets = _BRACKETS.search(rest)
    if brackets:
        rest = rest[: brackets.start()].rstrip()
    name = rest[len(rest.rstrip(_WORD)) :].lstrip(digits)
    if not name:
        return None
    return Declaration(rest.removesuffix(name).strip(), name, brackets[1] if brackets else None)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a payload: its C declaration (``unsigned long ip``), offset, size and sign."""

    declaration: str
    offset: int
    size: int
    signed: bool

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.size

    @property
    def type_name(self) -> str:
        """The C type, without name and array brackets."""
        parts = split_declaration(self.declaration)
        return parts.type_name if parts else self.declaration

    @property
    def name(self) -> str:
        """The field's name."""
        parts = split_declaration(self.declaration)
        return parts.name if parts else self.declaration

    @property
    def is_array(self) -> bool:
        """Whether the declaration ends in brackets."""
        return self.declaration.rstrip().endswith("]")

    @property
    def is_located(self) -> bool:
        """Whether it holds the location and length of an array in the payload."""
        return self.type_name.partition(" ")[0] in LOCATED

    @property
    def is_integer(self) -> bool:
        """Whether it is one integer."""
        return self.size in INTEGER_SIZES and not self.is_array and not self.is_located

    @property
    def line(self) -> str:
        """The field as a line of a format file."""
        return (
            f"\tfield:{self.declaration};\toffset:{self.offset};"
            f"\tsize:{self.size};\tsigned:{int(self.signed)};"
        )


@dataclass(frozen=True, slots=True)
class EventFormat:
    """The format of an event for one word size.  ``fields`` begins with the common fields."""

    name: str
    id: int
    system: str
    fields: tuple[Field, ...]
    print_fmt: str

    @property
    def text(self) -> str:
        """The format file of this event, as printed by the kernel."""
        common = [f.line for f in self.fields if f.name.startswith("common_")]
        own = [f.line for f in self.fields if not f.name.startswith("common_")]
        return "\n".join(
            (
                f"name: {self.name}",
                f"ID: {self.id}",
                "format:",
                *common,
                "",
                *own,
                "",
                f"print fmt: {self.print_fmt}",
                "",
            )
        )

    @classmethod
    def parse(cls, text: str, system: str) -> "EventFormat":
        """Parse a format file; `FormatError` names what is missing or too large."""
        name, number = _NAME.search(text), _ID.search(text)
        if name is None or number is None or int(number[1]) > 0xFFFF:
            raise FormatError(
                f"a format of the event system {escape(system, 64)!r} has no name or no ID"
            )
        title = escape(name[1], 64)
        fields: list[Field] = []
        for match in _FIELD.finditer(text):
            declaration = escape(" ".join(match[1].split()), 256)
            field = Field(declaration, int(match[2]), int(match[3]), match[4] == "1")
            if field.end > MAX_PAYLOAD or len(fields) == MAX_FIELDS:
                raise FormatError(
                    f"the format of the event {title!r} is too large at its field "
                    f"{escape(field.name, 64)!r}"
                )
            fields.append(field)
        sizes = {field.name: field.size for field in fields}
        for declaration, size in zip(_COMMON, (2, 1, 1, 4), strict=True):
            common = declaration.split()[-1]
            if sizes.get(common) != size:
                raise FormatError(f"the format of the event {title!r} has no usable {common}")
        if title == "funcgraph_exit":
            fields = _without_false_padding(fields)
        fmt = _PRINT.search(text)
        return cls(title, int(number[1]), system, tuple(fields), fmt[1].strip() if fmt else "")


@dataclass(frozen=True, slots=True)
class EventDeclaration:
    """One of our events: the C declarations of its fields behind the common ones.

    ``packed``: no padding between fields, as in Linux's funcgraph_exit.
    """

    name: str
    id: int
    fields: tuple[str, ...]
    print_fmt: str
    system: str = "ftrace"
    packed: bool = False

    def layout(self, long_size: int) -> EventFormat:
        """Lay the fields out as the guest's compiler does."""
        fields: list[Field] = []
        offset = 0
        for declaration in (*_COMMON, *self.fields):
            parts = split_declaration(declaration)
            size = c_type_size(parts.type_name, long_size) if parts else None
            if parts is None or size is None:
                raise ValueError(f"{self.name}: {declaration!r} cannot be laid out")
            if not self.packed:
                offset = align_up(offset, size)
            count = 1 if parts.length is None else int(parts.length or 0)
            fields.append(Field(declaration, offset, size * count, parts.type_name in _SIGNED))
            offset += size * count
        # libtraceevent prints a negative long of 32 bits as a positive one, but not an int.
        fmt = self.print_fmt.replace("%ld", "%d") if long_size == 4 else self.print_fmt
        return EventFormat(self.name, self.id, self.system, tuple(fields), fmt)


def _without_false_padding(fields: list[Field]) -> list[Field]:
    """The fields of funcgraph_exit at their true offsets.

    The event is packed, but 32-bit kernels without the commit "tracing: Fix ftrace event field
    alignments" report four bytes of padding before calltime that do not exist.
    """
    end = 0
    for field in fields:
        if field.name == "calltime" and field.offset == end + 4 and end % 8 == 4:
            return [
                replace(one, offset=one.offset - 4) if one.offset >= field.offset else one
                for one in fields
            ]
        end = field.end
    return fields
