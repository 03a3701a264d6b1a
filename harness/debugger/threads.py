# SPDX-License-Identifier: MIT
"""Threads of the stopped target, and exact single steps."""

import re
from collections.abc import Mapping
from typing import Any

from harness.debugger.session import REMOTE_TIMEOUT, MiSession
from harness.debugger.state import Thread, frame_address, number
from harness.errors import DeadlineMissed, GdbError
from harness.units import escape

STEP_TIMEOUT = 2
"""Seconds that gdb waits for a step; then it sends an interrupt, which stops QEMU.  QEMU 7.2
reports that stop.  QEMU 10 does not, and gdb gives up after the third time.
"""

STEP_TRIES = 3
"""If an interrupt is raised just before the instruction, QEMU (7.2 to 10.0) reports the step as
done without executing it.  An instruction that jumps to itself may be executed this often.
"""

_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_TARGET_ID = re.compile(r"Thread (?:(\d{1,18})\.)?(\d{1,18})")
_BEFORE = re.compile(r"(0x[0-9a-f]{1,16})sending: ")
_STEPPED = re.compile(r'received: "[TS]05')
_STOPPED_BY_GDB = re.compile(r'received: "[TS]02')
_UNANSWERED = "error while fetching packet"

# gdb does not notice changes by `maintenance packet`.
_AS_BEFORE = (f"set remotetimeout {REMOTE_TIMEOUT}", "maintenance flush register-cache")


class Threads:
    """QEMU's CPUs as gdb's threads; cached until ``forget``."""

    def __init__(self, session: MiSession) -> None:
        self._session = session
        self._all: list[Thread] | None = None
        self._target_ids: dict[int, tuple[int, int]] = {}
        self.selected: int | None = None
        """The selected thread; None if unknown."""

    def forget(self) -> None:
        """Drop cached program counters."""
        self._all = None

    def renumbered(self) -> None:
        """The threads have changed: drop the stub's identifications too."""
        self._target_ids.clear()
        self.forget()

    def all(self) -> list[Thread]:
        """All threads by gdb's numbers."""
        if self._all is None:
            found = self._session.command("-thread-info").get("threads")
            entries = found if isinstance(found, list) else []
            threads = [_thread(entry) for entry in entries if isinstance(entry, dict)]
            self._all = sorted(threads, key=lambda thread: thread.id)
            self._target_ids = {one.id: one.target_id for one in self._all if one.target_id}
        return list(self._all)

    def target_id(self, thread: int) -> tuple[int, int]:
        """The stub's identification of a thread: process (0 if none) and thread."""
        if thread not in self._target_ids:
            self.all()
        return self._target_ids.get(thread, (0, thread))

    def select(self, thread: int) -> None:
        """Select a thread for registers and frames."""
        if thread != self.selected:
            self.selected = None
            self._session.command(f"-thread-select {thread}")
            self.selected = thread

    def select_first(self) -> None:
        """Select the first thread together with the next command."""
        self._session.post("-thread-select 1")
        self.selected = 1

    def look_up(self) -> int | None:
        """The thread selected in gdb; also sets `selected`."""
        self.selected = number(self._session.console("output $_thread").strip()) or None
        return self.selected

    def step(self, thread: int, target_id: tuple[int, int]) -> int:
        """Make the stub execute one instruction; returns the address of the next one."""
        self.select(thread)
        process, cpu = target_id
        name = f"p{process:x}.{cpu:x}" if process else f"{cpu:x}"
        commands = (
            "output/x $pc",
            f"set remotetimeout {STEP_TIMEOUT}",
            f"maintenance packet vCont;s:{name}",
            *_AS_BEFORE,
            "output/x $pc",
        )
        for _ in range(STEP_TRIES):
            try:
                text = self._session.console(*commands)
            except GdbError as error:
                # gdb executes none of those behind the one that failed.
                self._session.console(*_AS_BEFORE)
                if _UNANSWERED not in error.message:
                    raise
                raise _not_finished(thread) from None
            if _STOPPED_BY_GDB.search(text):
                raise _not_finished(thread)
            if not _STEPPED.search(text):
                raise GdbError(f"the stub did not step: {escape(text.strip(), 200)}")
            # In front of it may be what gdb has printed of the last stop.
            before, after = _BEFORE.findall(text), text.rpartition("\n")[2]
            if not before or not _ADDRESS.fullmatch(after):
                raise GdbError("gdb printed no program counter")
            if after != before[-1]:
                break
        return int(after, 16)


def _not_finished(thread: int) -> DeadlineMissed:
    return DeadlineMissed(
        f"thread {thread} did not finish one instruction within {STEP_TIMEOUT} s",
        "Its CPU waits for an interrupt; let the guest run instead.",
    )


def _thread(entry: Mapping[str, Any]) -> Thread:
    target = str(entry.get("target-id", ""))
    match = _TARGET_ID.match(target)
    return Thread(
        id=number(entry.get("id")),
        name=str(entry.get("details") or entry.get("name") or target),
        pc=frame_address(entry.get("frame")) or 0,
        target_id=(int(match[1] or 0), int(match[2])) if match else None,
    )
