# SPDX-License-Identifier: MIT
"""The guest's threads, decoded from its array ``threads`` of ``struct thread_info``.

The guest is not trusted: only numbers and names are read, no pointer is followed.
"""

from dataclasses import dataclass

from harness.errors import FormatError
from harness.image.image import Image
from harness.units import one_line

FREE = 0x1000
"""TASK_FREE, the ``state`` of an unused entry."""

ENDED = 32
"""EXIT_ZOMBIE, the ``state`` of a thread that has ended and was not joined yet."""

MAX_THREADS = 65536

_PATHS = {"saved_pc": "thread.pc", "saved_sp": "thread.sp"}
_NUMBERS = (
    *("pid", "cpu", "flags", "state", "curr_ret_stack", "ret_stack", "interrupted_pc"),
    *("saved_pc", "saved_sp", "ftrace_ignore"),
)


@dataclass(frozen=True, slots=True)
class GuestThread:
    """One thread, with the guest's names.

    ``slot`` is its index in the array and ``address`` that of its structure.  ``comm`` is escaped.
    ``interrupted_pc`` is the address at which an unfinished interrupt hit it, else 0; ``saved_pc``
    and ``saved_sp`` are those of a thread that does not run.  ``ftrace_ignore`` says that its
    functions are not traced.
    """

    slot: int
    address: int
    pid: int
    comm: str
    cpu: int
    state: int
    flags: int
    curr_ret_stack: int
    ret_stack: int
    interrupted_pc: int
    saved_pc: int
    saved_sp: int
    ftrace_ignore: int

    def __str__(self) -> str:
        return f"{self.comm}-{self.pid}"


def thread_count(image: Image) -> int:
    """The size of the array; FormatError if the image is invalid."""
    size, room = image.structures.struct("thread_info").size, image.size_of("threads")
    if not size or room % size or room // size > MAX_THREADS:
        raise FormatError(f"{image.name} has {room} bytes of threads of {size} bytes")
    return room // size


class ThreadArray:
    """The layout of a guest's threads, ``size`` bytes at ``address``."""

    def __init__(self, image: Image) -> None:
        self.count = thread_count(image)
        self.layout = image.structures.struct("thread_info")
        self.address, self.size = image.address_of("threads"), image.size_of("threads")
        self._comm, self._pid = self.layout.member("comm"), self.layout.member("pid")
        self._state, self._stack_end = self.layout.member("state"), self.layout.member("stack_end")
        self._numbers = {name: self.layout.member(_PATHS.get(name, name)) for name in _NUMBERS}

    def threads(self, entries: bytes) -> list[GuestThread]:
        """The threads in `size` bytes, read at `address`; none before the guest has any."""
        starts = [slot * self.layout.size for slot in range(self.count)]
        return [
            GuestThread(
                slot=slot,
                address=self.address + start,
                comm=self._name(entries, start),
                **{name: one.number(entries, start) for name, one in self._numbers.items()},
            )
            for slot, start in enumerate(starts)
            if self._state.number(entries, start) != FREE and self._stack_end.number(entries, start)
        ]

    def has_ended(self, entry: bytes) -> bool:
        """Whether the thread of an entry has ended."""
        return self._state.number(entry) == ENDED

    def names(self, entries: bytes) -> dict[int, str]:
        """The name of each process id, also of ended threads whose entry is not reused yet."""
        found = {}
        for start in range(0, self.size, self.layout.size):
            pid, name = self._pid.number(entries, start), self._name(entries, start)
            if pid > 0 and name:
                found[pid] = name
        return found

    def _name(self, entries: bytes, start: int) -> str:
        return one_line(self._comm.text(entries, start).decode("latin-1"))
