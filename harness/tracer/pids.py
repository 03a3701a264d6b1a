# SPDX-License-Identifier: MIT
"""set_ftrace_pid and set_event_pid: trace only some threads.

Each thread of the guest has a flag; new threads look into the same lists in the guest's ``struct
trace_pid_control``.
"""

from harness.errors import UsageError
from harness.image import Image
from harness.patcher import Text
from harness.tracer.control_block import ControlBlock
from harness.tracer.threads import ThreadControl


class PidControl:
    """The traced threads of one guest."""

    def __init__(self, image: Image, memory: Text, threads: ThreadControl) -> None:
        self._control = ControlBlock(image, memory, "trace_pid_control")
        self._threads = threads

    def set_ftrace_pid(self, *pids: int) -> None:
        """Trace the functions of these threads only; without arguments, of all."""
        self._set("ftrace", pids)
        self._threads.set_ftrace_ignore(lambda pid: bool(pids) and pid not in pids)

    def set_event_pid(self, *pids: int) -> None:
        """Record the events of these threads only; without arguments, of all."""
        self._set("event", pids)
        self._threads.set_event_ignore(lambda pid: bool(pids) and pid not in pids)

    @property
    def ftrace_pids(self) -> list[int]:
        """The contents of ``set_ftrace_pid``; none for all threads."""
        return self._listed("ftrace")

    @property
    def event_pids(self) -> list[int]:
        """The contents of ``set_event_pid``; none for all threads."""
        return self._listed("event")

    def _listed(self, kind: str) -> list[int]:
        return self._control.numbers(f"{kind}_pids", self._control.read(f"nr_{kind}_pids"))

    def _set(self, kind: str, pids: tuple[int, ...]) -> None:
        wrong = [pid for pid in pids if not 0 <= pid < 1 << 31]
        if wrong:
            raise UsageError(f"{wrong[0]} is not a process id", "They are numbers from 0 upward.")
        room = self._control.room(f"{kind}_pids")
        if len(pids) > room:
            raise UsageError(f"{len(pids)} process ids; the guest has room for {room}")
        self._control.write(**{f"{kind}_pids": pids})
        self._control.write(**{f"nr_{kind}_pids": len(pids)})
