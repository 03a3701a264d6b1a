# SPDX-License-Identifier: MIT
"""Repeats the debugger's writes to a recorded guest."""

from collections.abc import Iterable
from itertools import groupby

from harness.debugger import Debugger
from harness.debugger.writes import MemoryWrite, RegisterWrite, Write


def repeat(debugger: Debugger, writes: Iterable[Write]) -> None:
    """Write again in the same order; registers that are set one after the other, together."""
    for _, group in groupby(writes, type):
        same = list(group)
        debugger.write_registers(dict(one for one in same if isinstance(one, RegisterWrite)))
        for one in same:
            if not isinstance(one, MemoryWrite):
                continue
            if one.physical:
                debugger.write_physical(one.address, one.data)
            else:
                debugger.write_memory(one.address, one.data)
