# SPDX-License-Identifier: MIT
"""Calls of a guest's functions, also in a run that is recorded for a replay.

gdb calls a function with registers of its own choice.  While the debugger's writes are logged, the
registers are set here instead, so that a replay can set the same.
"""

from harness.debugger import Debugger
from harness.debugger.session import DEADLINE
from harness.errors import DeadlineMissed, GdbError
from harness.image import RunningImage


class Calls:
    """Calls functions on the stopped CPU of one guest; the registers are restored."""

    def __init__(self, image: RunningImage, debugger: Debugger) -> None:
        self._image = image
        self._debugger = debugger

    def read_memory(self, address: int, size: int) -> bytes:
        """As `Debugger.read_memory`."""
        return self._debugger.read_memory(address, size)

    def call(self, function: int, *arguments: int) -> int:
        """The ``int`` that a function returns.

        Raises:
            GdbError: the guest stopped inside the function; it stays there.
        """
        if self._debugger.journal is None:
            return self._debugger.call(function, *arguments)
        before = self._enter(function, *arguments)
        self._run_to_return(function)
        after = self._debugger.registers()
        changed = {name: old for name, old in before.items() if after[name] != old}
        self._debugger.write_registers(changed)
        result = after[self._image.isa.abi.results[0]] & 0xFFFFFFFF
        return result - (result >> 31 << 32)

    def _enter(self, function: int, *arguments: int) -> dict[str, int]:
        """Set the guest to the start of a function; returns the registers to restore."""
        debugger, isa = self._debugger, self._image.isa
        before = debugger.registers()
        abi, stack = isa.abi, before[isa.abi.stack_register]
        values = abi.entered(function & isa.mask, arguments, stack, self._returns)
        debugger.write_registers(values)
        if pushed := abi.pushed(values, self._returns):
            debugger.write_memory(*pushed)
        # Not the others: the cause of an exception cannot be restored.
        kept = {*abi.general_registers, *abi.scratch, abi.pc_register, abi.status_registers[0]}
        return {name: value for name, value in before.items() if name in kept}

    def _run_to_return(self, function: int) -> None:
        debugger, isa = self._debugger, self._image.isa
        debugger.breakpoints.drop_until()
        number = debugger.breakpoints.insert(self._returns)
        try:
            debugger.resume()
            stop = debugger.wait_stop(DEADLINE)
            if stop is None:
                debugger.interrupt()
                debugger.wait_stop(DEADLINE)
        finally:
            debugger.breakpoints.delete(number)
        name = self._image.symbolize(function)
        if stop is None:
            raise DeadlineMissed(f"{name} did not return within {DEADLINE:g} s")
        if (stop.address ^ self._returns) & isa.mask:
            raise GdbError(f"the guest stopped inside {name}")

    @property
    def _returns(self) -> int:
        """The first instruction, never executed in a running guest; gdb's calls return there."""
        return self._image.entry & self._image.isa.mask
