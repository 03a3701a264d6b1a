# SPDX-License-Identifier: MIT
"""The guest's system calls, and the events ``sys_enter_NAME`` and ``sys_exit_NAME``.

The texts are those of ``struct syscall_metadata`` (guests/kernel/include/linux/syscall_metadata.h).
The guest is not trusted: invalid texts are refused.
"""

import re
from dataclasses import dataclass

from harness.errors import FormatError
from harness.trace.declarations import SYSCALL
from harness.trace.formats import EventFormat, Field
from harness.units import escape

SYSTEM = "syscalls"

MAX_ARGUMENTS = 6
_NAME = re.compile(r"sys_[a-z0-9_]{1,27}")
_ARGUMENT = re.compile(r"((?:[A-Za-z_]\w*[ *]+)+)([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Syscall:
    """A system call: its index in the guest's table, its name without ``sys_``, its number.

    ``arguments`` are pairs of type and name.  ``number`` is -1 if it is not in the guest's table of
    system calls.
    """

    index: int
    name: str
    number: int
    arguments: tuple[tuple[str, str], ...]

    def formats(self, long_size: int) -> tuple[EventFormat, EventFormat]:
        """The formats of its two events; every argument is a ``long``, as in Linux."""
        common = SYSCALL.layout(long_size)
        number = common.fields[-1]
        start = 8 + long_size
        arguments = tuple(
            Field(f"{type_name} {name}", start + i * long_size, long_size, False)
            for i, (type_name, name) in enumerate(self.arguments)
        )
        texts = ", ".join(f"{name}: 0x%0{2 * long_size}lx" for _, name in self.arguments)
        values = "".join(f", ((unsigned long)(REC->{name}))" for _, name in self.arguments)
        result = Field("long ret", start, long_size, True)
        return (
            EventFormat(
                f"sys_enter_{self.name}",
                common.id + 2 * self.index,
                SYSTEM,
                (*common.fields[:-1], number, *arguments),
                f'"{texts}"{values}',
            ),
            EventFormat(
                f"sys_exit_{self.name}",
                common.id + 2 * self.index + 1,
                SYSTEM,
                (*common.fields[:-1], number, result),
                '"0x%lx", REC->ret',
            ),
        )


def parse_syscall(index: int, name: bytes, declaration: bytes, number: int, count: int) -> Syscall:
    """A system call of the guest's table, from the texts ``name`` and ``declaration``.

    Raises:
        FormatError: a name, a declaration or a number is invalid.
    """
    title = _text(name)
    if not _NAME.fullmatch(title):
        raise FormatError(f"{escape(title, 40)!r} is not the name of a system call")
    text = _text(declaration).removeprefix("(").removesuffix(")")
    matches = [_ARGUMENT.fullmatch(part) for part in text.split(", ")] if text else []
    arguments = tuple((match[1].strip(), match[2]) for match in matches if match)
    if len(arguments) != count or len(matches) != count or count > MAX_ARGUMENTS:
        raise FormatError(
            f"the system call {title} has {count} arguments, declared as {escape(text, 160)!r}"
        )
    return Syscall(index, title.removeprefix("sys_"), number, arguments)


def _text(data: bytes) -> str:
    return data.decode("ascii", "backslashreplace")
