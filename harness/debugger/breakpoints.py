# SPDX-License-Identifier: MIT
"""gdb's breakpoints on a stopped target."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.debugger.session import MiSession
from harness.debugger.state import frame_address, number
from harness.errors import GdbError, UsageError

_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")


class Breakpoints:
    """Breakpoints by gdb's numbers; gdb itself is asked each time, for users set some too."""

    def __init__(
        self,
        session: MiSession,
        need_stopped: Callable[[str], object],
        masked: Callable[[int], int],
    ) -> None:
        """``need_stopped`` raises UsageError where the target runs: gdb would not tell it then.

        ``masked`` cuts an address to the bits that count.
        """
        self._session = session
        self._need_stopped = need_stopped
        self._masked = masked

    def insert(self, place: int | str, temporary: bool = False) -> int:
        """Stop at an address, or at the first instruction of a function; gdb's number of it."""
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
        """The addresses of those that have one, by number."""
        found = {number(row.get("number")): frame_address(row) for row in self._rows()}
        return {one: self._masked(address) for one, address in found.items() if address}

    def address(self, breakpoint_number: int) -> int | None:
        """Where one is that is enabled; None when there is none, or it watches something else."""
        rows = self._rows(f"-break-info {breakpoint_number}")
        return frame_address(rows[0]) if rows and rows[0].get("enabled") == "y" else None

    def enabled(self) -> set[int]:
        """The numbers of those that are enabled."""
        return {number(row.get("number")) for row in self._rows() if row.get("enabled") == "y"}

    def delete(self, breakpoint_number: int) -> None:
        """Take one away."""
        self._need_stopped("delete a breakpoint")
        self._session.command(f"-break-delete {breakpoint_number}")

    def _rows(self, command: str = "-break-list") -> list[Mapping[str, Any]]:
        table = self._session.command(command).get("BreakpointTable")
        body = table.get("body") if isinstance(table, dict) else None
        return [row for row in body or () if isinstance(row, dict)]
