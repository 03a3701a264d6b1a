# SPDX-License-Identifier: MIT
"""gdb's breakpoints on a stopped target."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from harness.debugger.session import MiSession
from harness.debugger.state import frame_address, number
from harness.errors import GdbError, HarnessError, UsageError

_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")


class Breakpoints:
    """Breakpoints by gdb's numbers.  gdb is asked each time, as users may set some too."""

    def __init__(
        self,
        session: MiSession,
        need_stopped: Callable[[str], object],
        masked: Callable[[int], int],
    ) -> None:
        """``need_stopped`` raises UsageError if the target runs: gdb does not report it.

        ``masked`` masks an address.
        """
        self._session = session
        self._need_stopped = need_stopped
        self._masked = masked
        self._until: dict[int, int] = {}

    def until(self, addresses: Sequence[int]) -> list[int]:
        """The numbers of breakpoints at these addresses, which stay until `drop_until`.

        Those of the last time that are asked for again are not set anew.
        """
        self._drop_until(addresses)
        for address in addresses:
            if address not in self._until:
                self._until[address] = self.insert(address)
        return [self._until[address] for address in addresses]

    def drop_until(self) -> None:
        """Delete the breakpoints of `until`, before the next command of the debugger."""
        self._drop_until(())

    def _drop_until(self, wanted: Sequence[int]) -> None:
        for address in self._until.keys() - set(wanted):
            with suppress(HarnessError):
                self.discard(self._until.pop(address))

    def insert(self, place: int | str, temporary: bool = False) -> int:
        """Set a breakpoint at an address or at a function's first instruction; its number."""
        self._need_stopped("set a breakpoint")
        if isinstance(place, int):
            location = f"*0x{self._masked(place):x}"
        elif _NAME.fullmatch(place):
            location = f"*{place}"
        else:
            raise UsageError(f"{place!r} is not the name of a function")
        answer = self._session.command(f"-break-insert {'-t ' if temporary else ''}{location}")
        breakpoint_ = answer.get("bkpt")
        found = number(breakpoint_.get("number")) if isinstance(breakpoint_, dict) else 0
        if not found:
            raise GdbError(f"gdb did not number the breakpoint at {location}")
        return found

    def addresses(self) -> dict[int, int]:
        """Addresses by number, of those that have one."""
        found = {number(row.get("number")): frame_address(row) for row in self._rows()}
        return {one: self._masked(address) for one, address in found.items() if address}

    def address(self, breakpoint_number: int) -> int | None:
        """The address of an enabled breakpoint; None if there is none, or for a watchpoint."""
        rows = self._rows(f"-break-info {breakpoint_number}")
        return frame_address(rows[0]) if rows and rows[0].get("enabled") == "y" else None

    def enabled(self) -> set[int]:
        """The numbers of the enabled ones."""
        return {number(row.get("number")) for row in self._rows() if row.get("enabled") == "y"}

    def delete(self, breakpoint_number: int) -> None:
        """Delete a breakpoint."""
        self._need_stopped("delete a breakpoint")
        self._forget(breakpoint_number)
        self._session.command(f"-break-delete {breakpoint_number}")

    def discard(self, breakpoint_number: int) -> None:
        """Delete a breakpoint if there is one, before the next command of the debugger."""
        self._need_stopped("delete a breakpoint")
        self._forget(breakpoint_number)
        self._session.post(f"-break-delete {breakpoint_number}")

    def _forget(self, breakpoint_number: int) -> None:
        self._until = {at: one for at, one in self._until.items() if one != breakpoint_number}

    def _rows(self, command: str = "-break-list") -> list[Mapping[str, Any]]:
        table = self._session.command(command).get("BreakpointTable")
        body = table.get("body") if isinstance(table, dict) else None
        return [row for row in body or () if isinstance(row, dict)]
