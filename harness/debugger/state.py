# SPDX-License-Identifier: MIT
"""What gdb reports about the target."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}")


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and where the target stopped.

    ``reason`` is gdb's own (``breakpoint-hit``, ``signal-received``, ...), or ``step`` after
    :meth:`Debugger.step_instruction` and ``attached`` after :meth:`Debugger.connect`.  ``thread``
    is gdb's number of the thread, with QEMU a CPU.  ``address`` is its program counter.
    """

    reason: str
    breakpoint: int | None
    thread: int
    address: int
    signal: str | None


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread with gdb's number; QEMU's CPUs are threads with names as ``CPU#0 [running]``.

    ``pc`` is 0 while the thread runs.  ``target_id`` is the stub's identification: process, thread.
    """

    id: int
    name: str
    pc: int
    target_id: tuple[int, int] | None


def number(text: object, default: int = 0) -> int:
    """A decimal or hexadecimal number of a record; ``default`` if it is none."""
    if not isinstance(text, str):
        return default
    try:
        return int(text, 0)
    except ValueError:
        return default


def frame_address(frame: object) -> int | None:
    """The program counter of a frame."""
    address = frame.get("addr") if isinstance(frame, Mapping) else None
    if isinstance(address, str) and _ADDRESS.fullmatch(address):
        return int(address, 16)
    return None


def stop_from(payload: Mapping[str, Any]) -> Stop:
    """The stop in a ``*stopped`` record."""
    signal = payload.get("signal-name")
    reason = payload.get("reason", "attached")
    return Stop(
        reason=reason if isinstance(reason, str) else "unknown",
        breakpoint=number(payload["bkptno"]) if "bkptno" in payload else None,
        thread=number(payload.get("thread-id"), 1),
        address=frame_address(payload.get("frame")) or 0,
        signal=signal if isinstance(signal, str) else None,
    )
