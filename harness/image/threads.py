# SPDX-License-Identifier: MIT
"""The threads of a guest: the array ``threads`` of ``struct thread_info``, decoded from bytes.

The guest is a stranger: what it says of a thread is a number or a name, and leads nowhere.
"""

from dataclasses import dataclass

from harness.errors import FormatError
from harness.image.image import Image
from harness.units import one_line

FREE = 0x1000
"""``state`` of an entry that is no thread (TASK_FREE)."""

MAX_THREADS = 65536

_PATHS = {"saved_pc": "thread.pc", "saved_sp": "thread.sp"}
_NUMBERS = (
    *("pid", "cpu", "flags", "state", "curr_ret_stack", "ret_stack", "interrupted_pc"),
    *("saved_pc", "saved_sp", "ftrace_ignore"),
)


@dataclass(frozen=True, slots=True)
class GuestThread:
    """One thread; the fields bear the guest's names.

    ``slot`` is its place in the array and ``address`` that of its structure.  ``comm`` is escaped.
    ``interrupted_pc`` is where an interrupt has hit it that is not over yet, else 0; ``saved_pc``
    and ``saved_sp`` are where it goes on if it does not run.  ``ftrace_ignore`` says that its
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
    """How many places for threads there are; FormatError where the image cannot be right."""
    size, room = image.structures.struct("thread_info").size, image.size_of("threads")
    if not size or room % size or room // size > MAX_THREADS:
        raise FormatError(f"{image.name} has {room} bytes of threads of {size} bytes")
    return room // size


class ThreadArray:
    """Where a guest's threads lie, ``size`` bytes at ``address``, and how."""

    def __init__(self, image: Image) -> None:
        self.count = thread_count(image)
        self.layout = image.structures.struct("thread_info")
        self.address, self.size = image.address_of("threads"), image.size_of("threads")
        self._comm, self._pid = self.layout.member("comm"), self.layout.member("pid")
        self._state, self._stack_end = self.layout.member("state"), self.layout.member("stack_end")
        self._numbers = {name: self.layout.member(_PATHS.get(name, name)) for name in _NUMBERS}

    def threads(self, entries: bytes) -> list[GuestThread]:
        """The threads out of `size` bytes, read at `address`; none before the guest has any."""
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

    def names(self, entries: bytes) -> dict[int, str]:
        """The name of each process id, also of threads that have ended and left a free entry."""
        found = {}
        for start in range(0, self.size, self.layout.size):
            pid, name = self._pid.number(entries, start), self._name(entries, start)
            if pid > 0 and name:
                found[pid] = name
        return found

    def _name(self, entries: bytes, start: int) -> str:
        return one_line(self._comm.text(entries, start).decode("latin-1"))
