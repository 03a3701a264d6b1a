# SPDX-License-Identifier: MIT
"""One recorded run under QEMU's replay, and the way to any of its instructions.

The guest executes what it executed during the recording.  What the debugger wrote then is written
again at the same places, and a snapshot is made behind each, as QEMU goes back to a snapshot and
from there forward: from an earlier one the write would be missing.  No snapshot is made in a delay
slot: QEMU does not save that the branch is taken.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby

from harness.debugger import Debugger, Stop
from harness.debugger.writes import MemoryWrite, Write
from harness.errors import DeadlineMissed, GdbError, HarnessError, HostError, UsageError
from harness.machine import Machine
from harness.replay.manifest import Manifest
from harness.replay.recorder import icount_of
from harness.replay.writes import repeat

INTERVAL = 1_000_000
"""Instructions between snapshots, at least."""

SNAPSHOTS = 100
"""Snapshots at intervals, at most."""

MOVING = 120.0
"""Timeout of one way in seconds."""

INITIAL = "start_debugging"
"""The snapshot that QEMU makes itself when a debugger connects, in front of the first write."""


class Replay:
    """A replayed run.  Places are numbers of executed instructions, from 1 to ``end``.

    A place where the debugger wrote is the one behind the write.  All methods are for a stopped
    guest.
    """

    def __init__(
        self,
        machine: Machine,
        debugger: Debugger,
        manifest: Manifest,
        leave_delay_slot: Callable[[], None],
        timer: int | None,
    ) -> None:
        """``timer`` is the address of `Cpu.unsaved_timer`."""
        self._timer = timer
        self._prepared = False
        self._leave_delay_slot = leave_delay_slot
        self._machine = machine
        self._debugger = debugger
        self.end = manifest.end
        self._writes = {
            icount: [logged.write for logged in group]
            for icount, group in groupby(manifest.writes, key=lambda logged: logged.icount)
        }
        self._snapshots: list[int] = []
        self._armed_at = self._loaded_at = -1
        debugger.journal = _refuse

    def prepare(self, visited: Callable[[int], None]) -> None:
        """Run once from the first instruction to the end, with snapshots on the way.

        ``visited`` is called at each of them, and at the end, with the place.
        """
        step = max(INTERVAL, self.end // SNAPSHOTS)
        places = {*self._writes, *range(step, self.end, step), 0}
        self._write(0)
        for place in sorted(one for one in places if one < self.end):
            # Behind the instruction: QEMU logs the clock at a stop, and hangs when it is loaded
            # between that and the next instruction.
            self._forward(place + 1)
            self._leave_delay_slot()
            here = self.icount
            self._monitor(f"savevm {_name(here)}")
            self._snapshots.append(here)
            visited(here)
        with suppress(HostError):
            self._monitor(f"delvm {INITIAL}")
        self._forward(self.end)
        visited(self.end)
        self._prepared = True

    @property
    def icount(self) -> int:
        """Where the guest is."""
        return icount_of(self._machine)

    @property
    def snapshots(self) -> Sequence[int]:
        """The places with a snapshot."""
        return self._snapshots

    def goto(self, place: int) -> None:
        """Go to a place; UsageError if the recording does not have it."""
        first = self._snapshots[0]
        if not first <= place <= self.end:
            raise UsageError(
                f"instruction {place} is not in the recording", f"It has {first} to {self.end}."
            )
        here = self.icount
        # One in front of the place: QEMU's flash device finishes a load when the machine runs, and
        # QEMU (7.2 to 10.0) crashes on a second load before that.
        nearest = self._snapshots[max(0, bisect_left(self._snapshots, place) - 1)]
        if place < here or nearest > here:
            self._load(nearest)
        self._forward(place)

    def reverse(self, condition: Callable[[], int]) -> bool:
        """Go back to where a breakpoint or watchpoint is hit; False, at the start, if nowhere.

        ``condition`` sets it, and returns gdb's number; it is deleted afterwards.  A watchpoint is
        hit behind the store.
        """
        with self._alone():
            number = condition()
            try:
                return self.reverse_continue()
            finally:
                self._debugger.breakpoints.delete(number)

    def back_to(self, address: int) -> bool:
        """Go back to the last time that an instruction was executed; False if it never was."""
        found = self.reverse(lambda: self._debugger.breakpoints.insert(address))
        if found and not self._stands_at(address):
            # An instruction that raises an exception is not counted, and QEMU may be behind it.
            self.goto(self.icount - 1)
            self._debugger.step_instruction()
        return found

    def reverse_continue(self) -> bool:
        """gdb's ``reverse-continue``; False if it came to the start of the recording."""
        before = self.icount
        try:
            self._debugger.cli("reverse-continue")
        except GdbError as error:
            if "reverse" in error.message or "history" in error.message:
                return False
            raise
        stop = self._stopped()
        return self.icount < before and stop.reason != "no-history"

    def last_write(self, address: int, size: int, before: int) -> int | None:
        """The last place before another at which the debugger wrote some of these bytes."""
        places = [
            place
            for place, writes in self._writes.items()
            if place < before
            and any(
                isinstance(one, MemoryWrite)
                and not one.physical
                and one.address < address + size
                and address < one.address + len(one.data)
                for one in writes
            )
        ]
        return max(places, default=None)

    def arm(self) -> None:
        """Stop the guest, which may be about to run, at the next write or at the end."""
        here = self.icount
        place = min((one for one in self._writes if one > here), default=self.end)
        self._armed_at = self._debugger.resumptions
        if here < self.end:
            self._machine.qmp("replay-break", icount=min(place, self.end))

    @property
    def ran(self) -> bool:
        """Whether the guest ran since it was armed."""
        return self._armed_at != self._debugger.resumptions

    def arrived(self) -> bool:
        """Repeat the writes at this place; returns whether there are any."""
        here = self.icount
        if here not in self._writes:
            return False
        self._write(here)
        return True

    def _forward(self, place: int) -> None:
        """Run to a later place, past all breakpoints; repeat the writes up to it."""
        here = self.icount
        for stop in sorted({place, *(one for one in self._writes if one < place)}):
            if stop > here:
                self._run_to(stop)
                self._write(stop)

    def _run_to(self, place: int) -> None:
        with self._alone(), self._timer_noticed():
            self._machine.qmp("replay-break", icount=place)
            self._debugger.resume()
            self._stopped()
        if self.icount != place:
            if self._timer is not None and self._stands_at(self._timer):
                raise UsageError(
                    f"a timer interrupt comes after instruction {self.icount}, and QEMU's "
                    "snapshots do not hold the timer of this machine",
                    "Record without a tick, and a workload that does not sleep.",
                )
            raise HostError(
                f"the replay came to instruction {self.icount} instead of {place}",
                "It does not follow the recording: was QEMU or the image changed?",
            )

    def _stands_at(self, address: int) -> bool:
        # Without gdb's sign extension.
        return (self._debugger.threads()[0].pc ^ address) & 0xFFFF_FFFF == 0

    @contextmanager
    def _timer_noticed(self) -> Iterator[None]:
        """During the first run, with a breakpoint on a timer that cannot be replayed."""
        if self._timer is None or self._prepared:
            yield
            return
        number = self._debugger.breakpoints.insert(self._timer)
        try:
            yield
        finally:
            with suppress(HarnessError):
                self._debugger.breakpoints.delete(number)

    def _stopped(self) -> Stop:
        stop = self._debugger.wait_stop(MOVING)
        if stop is None:
            raise DeadlineMissed(f"the replay did not stop within {MOVING:g} s")
        return stop

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Without all breakpoints of the user and of the harness."""
        enabled = sorted(self._debugger.breakpoints.enabled())
        numbers = " ".join(map(str, enabled))
        if numbers:
            self._debugger.command(f"-break-disable {numbers}")
        try:
            yield
        finally:
            if numbers:
                with suppress(HarnessError):
                    self._debugger.command(f"-break-enable {numbers}")

    def _write(self, place: int) -> None:
        self._debugger.journal = None
        try:
            repeat(self._debugger, self._writes.get(place, ()))
        finally:
            self._debugger.journal = _refuse

    def _load(self, place: int) -> None:
        if self._loaded_at == self._debugger.resumptions:
            self._debugger.step_instruction()
        self._monitor(f"loadvm {_name(place)}")
        self._loaded_at = self._debugger.resumptions
        self._debugger.moved()

    def _monitor(self, line: str) -> None:
        """Run a command of QEMU's human monitor.

        Under replay QMP's jobs never conclude, and savevm has no other form.
        """
        answer = self._machine.qmp("human-monitor-command", MOVING, **{"command-line": line})
        if str(answer).strip():
            raise HostError(f"QEMU refused {line}: {str(answer).strip()}")


def _name(place: int) -> str:
    return f"at-{place}"


def _refuse(write: Write) -> None:
    what = f"memory at {write.address:#x}" if isinstance(write, MemoryWrite) else write.register
    raise UsageError(
        f"this is a replay: {what} is not changed",
        "What happened is over; boot the guest to try something else.",
    )
