# SPDX-License-Identifier: MIT
"""Which instruction wrote a register or memory last."""

from typing import NamedTuple

from harness.debugger import Debugger
from harness.replay.run import Replay

WINDOWS = (64, 512, 4096)
"""Instructions back, one after the other, in which a register's last change is looked for."""


class Writer(NamedTuple):
    """Where a value changed last: the place of the instruction, or of the debugger's write."""

    place: int
    debugger: bool = False


def memory_writer(replay: Replay, debugger: Debugger, address: int, size: int) -> Writer | None:
    """Go to the store that last changed ``size`` bytes (1, 2, 4 or 8) at an address.

    None if none did since the first instruction.  A store of the same value is passed.
    """
    here = replay.icount
    ours = replay.last_write(address, size, here)
    found = replay.reverse(lambda: _watch(debugger, address, size))
    store = replay.icount - 1 if found else -1
    if ours is not None and ours > store:
        replay.goto(ours)
        return Writer(ours, debugger=True)
    if not found:
        replay.goto(here)
        return None
    replay.goto(store)
    return Writer(store)


def register_writer(replay: Replay, debugger: Debugger, name: str) -> Writer | None:
    """Go to the instruction that last changed a register.

    None if none of the last 4096 instructions did.
    """
    here = replay.icount
    for window in WINDOWS:
        start = max(0, here - window)
        replay.goto(start)
        before, found = debugger.read_register(name), None
        for place in range(start, here):
            debugger.step_instruction()
            value = debugger.read_register(name)
            if value != before:
                before, found = value, place
        if found is not None:
            replay.goto(found)
            return Writer(found)
        if not start:
            break
    replay.goto(here)
    return None


def _watch(debugger: Debugger, address: int, size: int) -> int:
    kind = {1: "char", 2: "short", 4: "int", 8: "long long"}[size]
    answer = debugger.command(f'-break-watch "*(unsigned {kind}*)0x{address:x}"')
    return int(answer["wpt"]["number"])
