# SPDX-License-Identifier: MIT
"""set_ftrace_pid, set_event_pid and their notrace lists: trace only some threads.

Each thread of the guest has a flag; new threads look into the same lists in the guest's ``struct
trace_pid_control``.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum

from harness.errors import UsageError
from harness.image import Image
from harness.patcher import Text
from harness.tracer.control_block import ControlBlock
from harness.tracer.threads import ThreadControl


class PidList(StrEnum):
    """A list of process ids; the value is its name in tracefs."""

    FTRACE = "set_ftrace_pid"
    FTRACE_NOTRACE = "set_ftrace_notrace_pid"
    EVENT = "set_event_pid"
    EVENT_NOTRACE = "set_event_notrace_pid"

    @property
    def member(self) -> str:
        """Its name in ``struct trace_pid_control``."""
        return f"{self.removeprefix('set_')}s"


class PidControl:
    """The traced threads of one guest."""

    def __init__(self, image: Image, memory: Text, threads: ThreadControl) -> None:
        self._control = ControlBlock(image, memory, "trace_pid_control")
        self._filters = ControlBlock(image, memory, "trace_filter_control")
        self._threads = threads

    def pids(self, which: PidList) -> list[int]:
        """The contents of a list."""
        return self._control.numbers(which.member, self._control.read(f"nr_{which.member}"))

    def set_pids(self, which: PidList, pids: Sequence[int]) -> None:
        """Replace the contents of a list.

        A thread is traced if it is in the list of traced ones, or that is empty, and is not in the
        list of those that are not.
        """
        wrong = [pid for pid in pids if not 0 <= pid < 1 << 31]
        if wrong:
            raise UsageError(f"{wrong[0]} is not a process id", "They are numbers from 0 upward.")
        room = self._control.room(which.member)
        if len(pids) > room:
            raise UsageError(f"{len(pids)} process ids; the guest has room for {room}")
        self._control.write(**{which.member: pids})
        self._control.write(**{f"nr_{which.member}": len(pids)})
        if which in (PidList.FTRACE, PidList.FTRACE_NOTRACE):
            wanted, unwanted = self.pids(PidList.FTRACE), self.pids(PidList.FTRACE_NOTRACE)
            self._threads.set_ftrace_ignore(lambda pid: _is_ignored(pid, wanted, unwanted))
        else:
            self.mark_events()

    def mark_events(self) -> None:
        """Set in each thread whether its events are recorded, and whether some have filters."""
        wanted, unwanted = self.pids(PidList.EVENT), self.pids(PidList.EVENT_NOTRACE)
        self._threads.set_event_ignore(
            lambda pid: _is_ignored(pid, wanted, unwanted), self._filters.read("nr_filters") > 0
        )


def _is_ignored(pid: int, wanted: Collection[int], unwanted: Collection[int]) -> bool:
    return bool(wanted and pid not in wanted) or pid in unwanted
