# SPDX-License-Identifier: MIT
"""Files and directories of tracefs, and how their text is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.errors import UsageError
from harness.guest import Guest
from harness.readout import Collector

UNLIMITED = 1 << 16

Read = Callable[[Guest], Iterable[str]]
"""The lines of a file, without line ends."""

Write = Callable[[Guest, str, bool], None]
"""Takes the written text, and whether it is appended (``>>``)."""


class Stream(Protocol):
    """The contents of a file while the guest runs, each part once."""

    def take(self, everything: bool) -> bytes:
        """What was drained from the guest since the last call.

        ``everything``: also what the guest has not finished.
        """


class NoFile(UsageError):
    """There is no such file or directory in this guest's tracefs."""


@dataclass(frozen=True)
class File:
    """One file of tracefs.

    ``read`` and ``write`` are None if that is not possible.  ``stream`` is that of a file whose
    readers wait for more.  The first line of ``help`` is a
    summary.  ``takes`` is the synopsis of what is written, with ``>`` if to write nothing clears
    the file; ``most`` is the maximum number of words, ``completes`` their kind.  ``whole``: what is
    written at once is one text, and not words.  ``there`` says whether a guest has the file.
    """

    help: str
    read: Read | None = None
    write: Write | None = None
    takes: str = ""
    most: int = 1
    completes: str = ""
    example: str = ""
    there: Callable[[Guest], bool] = lambda guest: True
    stream: Callable[[Guest], Stream] | None = None
    whole: bool = False

    @property
    def clears(self) -> bool:
        """Whether writing nothing has a meaning."""
        return ">" in self.takes


@dataclass(frozen=True)
class Directory:
    """A directory; its entries, and whether it is ``there``, depend on the guest."""

    entries: Callable[[Guest], Mapping[str, "Node"]]
    there: Callable[[Guest], bool] = lambda guest: True


Node = File | Directory


def is_own(guest: Guest) -> bool:
    """Whether the guest is one of the harness, and not a Linux kernel."""
    return isinstance(guest.collector, Collector)


def words(write: Callable[[Guest, Sequence[str], bool], None]) -> Write:
    """A file that takes words between spaces and line ends."""
    return lambda guest, text, append: write(guest, text.split(), append)


def word(write: Callable[[Guest, str], None]) -> Write:
    """A file that takes one word."""

    def write_word(guest: Guest, text: str, append: bool) -> None:
        given = text.split()
        if len(given) != 1:
            raise UsageError(f"one word is expected, not {len(given)}")
        write(guest, given[0])

    return write_word


def switch(
    read: Callable[[Guest], bool],
    write: Callable[[Guest, bool], None],
    help_: str,
    there: Callable[[Guest], bool] = lambda guest: True,
) -> File:
    """A file with 0 or 1."""

    def write_switch(guest: Guest, text: str) -> None:
        if text not in ("0", "1"):
            raise UsageError(f"{text!r} is neither 0 nor 1")
        write(guest, text == "1")

    return File(
        help_, lambda guest: [str(int(read(guest)))], word(write_switch), "[0 | 1]", there=there
    )


def number(text: str) -> int:
    """An integer; UsageError for anything else."""
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not a number") from None
