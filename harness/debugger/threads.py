# SPDX-License-Identifier: MIT
"""Threads of the stopped target: where they are, and exact single steps."""

import re
from collections.abc import Mapping
from typing import Any

from harness.debugger.session import REMOTE_TIMEOUT, MiSession, console_command
from harness.debugger.state import Thread, frame_address, number
from harness.errors import DeadlineMissed, GdbError
from harness.units import escape

STEP_TIMEOUT = 2
"""Seconds that gdb waits for a step; when they are over it sends a byte, which stops QEMU.

QEMU 7.2 answers that it has stopped.  QEMU 10 says nothing, and gdb gives up at the third time.
"""

STEP_TRIES = 3
"""QEMU (7.2 to 10.0) has executed nothing, and says that the step is done, when an interrupt is
raised just as the instruction is to begin.  What jumps to itself may be executed so often."""

_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_TARGET_ID = re.compile(r"Thread (?:(\d{1,18})\.)?(\d{1,18})")
_STEPPED = re.compile(r'received: "[TS]05')
_STOPPED_BY_GDB = re.compile(r'received: "[TS]02')
_UNANSWERED = "error while fetching packet"


class Threads:
    """QEMU's CPUs as gdb sees them; what was read is remembered until ``forget``."""

    def __init__(self, session: MiSession) -> None:
        self._session = session
        self._all: list[Thread] | None = None
        self._target_ids: dict[int, tuple[int, int]] = {}
        self.selected: int | None = None
        """The thread that registers and backtraces are of; None when gdb has to be told."""

    def forget(self) -> None:
        """Drop where the threads were."""
        self._all = None

    def renumbered(self) -> None:
        """Drop the stub's names of the threads too: there are other threads now."""
        self._target_ids.clear()
        self.forget()

    def all(self) -> list[Thread]:
        """Every thread, by gdb's numbers."""
        if self._all is None:
            found = self._session.command("-thread-info").get("threads")
            entries = found if isinstance(found, list) else []
            threads = [_thread(entry) for entry in entries if isinstance(entry, dict)]
            self._all = sorted(threads, key=lambda thread: thread.id)
        return list(self._all)

    def target_id(self, thread: int) -> tuple[int, int]:
        """The stub's name of a thread: process (0 for none) and thread."""
        if thread not in self._target_ids:
            self._target_ids = {t.id: t.target_id for t in self.all() if t.target_id}
        return self._target_ids.get(thread, (0, thread))

    def select(self, thread: int) -> None:
        """Make a thread the one that registers and backtraces are of."""
        if thread != self.selected:
            self.selected = None
            self._session.command(f"-thread-select {thread}")
            self.selected = thread

    def look_up(self) -> int | None:
        """The thread that gdb's own command line has selected; `selected` from now on."""
        self.selected = number(self._session.console("output $_thread").strip()) or None
        return self.selected

    def step(self, thread: int, target_id: tuple[int, int]) -> int:
        """Have the stub execute one instruction; the address of the next one."""
        self.select(thread)
        process, cpu = target_id
        name = f"p{process:x}.{cpu:x}" if process else f"{cpu:x}"
        for _ in range(STEP_TRIES):
            try:
                (_, before), _, (_, reply), _, _, (_, pc) = self._session.exchange(
                    [
                        console_command("output/x $pc"),
                        f"-gdb-set remotetimeout {STEP_TIMEOUT}",
                        console_command(f"maintenance packet vCont;s:{name}"),
                        f"-gdb-set remotetimeout {REMOTE_TIMEOUT}",
                        console_command("maintenance flush register-cache"),
                        console_command("output/x $pc"),
                    ]
                )
            except GdbError as error:
                if _UNANSWERED not in error.message:
                    raise
                raise _not_finished(thread) from None
            if _STOPPED_BY_GDB.search(reply):
                raise _not_finished(thread)
            if not _STEPPED.search(reply):
                raise GdbError(f"the stub did not step: {escape(reply.strip(), 200)}")
            after = _address(pc)
            if after != _address(before):
                break
        return after


def _not_finished(thread: int) -> DeadlineMissed:
    return DeadlineMissed(
        f"thread {thread} did not finish one instruction within {STEP_TIMEOUT} s",
        "Its CPU waits for an interrupt; let the guest run instead.",
    )


def _address(text: str) -> int:
    found = _ADDRESS.search(text)
    if found is None:
        raise GdbError("gdb does not know where the target is")
    return int(found[0], 16)


def _thread(entry: Mapping[str, Any]) -> Thread:
    target = str(entry.get("target-id", ""))
    match = _TARGET_ID.match(target)
    return Thread(
        id=number(entry.get("id")),
        name=str(entry.get("details") or entry.get("name") or target),
        pc=frame_address(entry.get("frame")) or 0,
        target_id=(int(match[1] or 0), int(match[2])) if match else None,
    )
